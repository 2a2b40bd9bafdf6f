/**
 * The choice of network and strategy: models.json has a row for each pair.
 *
 * @typedef {import("./remote.js").Model} Model
 */
import { byId, element } from "./element.js";
import { texts } from "./texts.js";

/** @param {Model} model */
const strategyOf = (model) => model.strategy ?? "exact";

/** The key of its state in the store. @param {Model} model */
export const nameOf = (model) => (strategyOf(model) === "exact" ? model.name : `${model.name} ${strategyOf(model)}`);

/** @param {Model} model */
export const remember = (model) => localStorage.setItem("model", nameOf(model));

/** @param {Model} model */
export function choose(model) {
  byId("model").value = model.name;
  byId("strategy").value = strategyOf(model);
}

/** Fills both lists and returns the pair that was used last. @param {Model[]} models @param {(model: Model) => void} use */
export function offer(models, use) {
  const first = models.find((model) => nameOf(model) === localStorage.getItem("model")) ?? models[0];
  const names = [...new Set(models.map(({ name }) => name))];
  const strategies = [...new Set(models.map(strategyOf))];
  for (const name of names) {
    const { bytes } = /** @type {Model} */ (models.find((model) => model.name === name));
    byId("model").append(element("option", { value: name }, texts.models(name, texts.bytes(bytes))));
  }
  for (const strategy of strategies)
    byId("strategy").append(element("option", { value: strategy }, texts.strategies[strategy] ?? strategy));
  choose(first);
  byId("strategy").parentElement.hidden = strategies.length < 2;
  const chosen = () =>
    models.find((model) => model.name === byId("model").value && strategyOf(model) === byId("strategy").value) ?? first;
  for (const id of ["model", "strategy"]) byId(id).addEventListener("change", () => use(chosen()));
  return first;
}
