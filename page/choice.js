/**
 * The choice of network and strategy: models.json has a row for each pair. The first network is small; the second is used where
 * the device is quick enough for it.
 *
 * @typedef {import("./remote.js").Model} Model
 */
import { byId, element } from "./element.js";
import { texts } from "./texts.js";

const MEASURED = 200; // milliseconds
// Of a picture with the first network. The second, efficientnet_lite0 at 160 pixels, takes six times as long as
// efficientnet_tiny: up to 60 ms.
const QUICK = 10;

/** @param {Model} model */
const strategyOf = (model) => model.strategy ?? "exact";

/** @param {Model} model */
const networkOf = ({ name, components, reduced }) => (reduced ? `${name} ${components}` : name);

/** The key of its state in the store. @param {Model} model */
export const nameOf = (model) => (strategyOf(model) === "exact" ? networkOf(model) : `${networkOf(model)} ${strategyOf(model)}`);

/** @param {Model} model */
export const remember = (model) => localStorage.setItem("model", nameOf(model));

/** @param {Model} model */
export function choose(model) {
  byId("model").value = networkOf(model);
  byId("strategy").value = strategyOf(model);
}

/** Fills both lists and returns the pair that was used last. @param {Model[]} models @param {(model: Model) => void} use */
export function offer(models, use) {
  const first = models.find((model) => nameOf(model) === localStorage.getItem("model")) ?? models[0];
  const networks = [...new Set(models.map(networkOf))];
  const strategies = [...new Set(models.map(strategyOf))];
  for (const value of networks) {
    const { name, bytes, components, reduced } = /** @type {Model} */ (models.find((model) => networkOf(model) === value));
    byId("model").append(element("option", { value }, texts.models(name, texts.bytes(bytes), reduced ? components : 0)));
  }
  for (const strategy of strategies)
    byId("strategy").append(element("option", { value: strategy }, texts.strategies[strategy] ?? strategy));
  choose(first);
  byId("strategy").parentElement.hidden = strategies.length < 2;
  for (const id of ["model", "strategy"])
    byId(id).addEventListener("change", () => {
      const same = models.filter((model) => networkOf(model) === byId("model").value);
      const model = same.find((one) => strategyOf(one) === byId("strategy").value) ?? same[0];
      choose(model); // components are learned at once only
      use(model);
    });
  return first;
}

/**
 * Whether the second network is for this device. Measured once, at the first visit, and said in words.
 * @param {Model[]} models @param {(method: string, ...args: any[]) => Promise<any>} call asks the worker of the first one
 * @returns {Promise<Model | null>} the one to use instead of the first
 */
export async function better(models, call) {
  if (localStorage.getItem("speed")) return null;
  const ms = await call("measure", MEASURED);
  localStorage.setItem("speed", String(ms));
  return ms <= QUICK ? models[1] : null;
}

/** @param {Model[]} models */
export function drawSpeed(models) {
  const ms = Number(localStorage.getItem("speed"));
  if (ms) byId("speed").textContent = `${ms <= QUICK ? texts.quick : texts.slow} ${texts.measured(models[0].name, ms)}`;
}
