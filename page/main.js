/** The page, put together: source on the left, classes on the right, what it knows and costs below. */
import { drawAnswers } from "./answers.js";
import { choose, nameOf, offer, remember } from "./choice.js";
import { Classes } from "./classes.js";
import { drawCosts } from "./costs.js";
import { byId, element } from "./element.js";
import { ofBlob, thumbnail } from "./frames.js";
import { drawProgress } from "./progress.js";
import { RemoteSession, RemoteWorkerClient, beServed } from "./remote.js";
import { Session } from "./session.js";
import { Source } from "./source.js";
import { headOf } from "./state_head.js";
import { Store } from "./store.js";
import { WorkerClient } from "./worker_client.js";
import { drawChart, drawMatrix } from "./tested.js";
import { texts } from "./texts.js";

const BETWEEN_ANSWERS = 150; // milliseconds: several a second
const SHOWN = 12000; // milliseconds that a message stays
const LANES = 4; // files that are read at the same time, and large ones: a photograph of 12 megapixels takes 48 MB meanwhile
const LARGE_LANES = 2;
const LARGE = 300e3; // bytes

for (const place of document.querySelectorAll("[data-text]"))
  place.textContent = String(/** @type {any} */ (texts)[/** @type {HTMLElement} */ (place).dataset.text ?? ""]);
byId("name").placeholder = texts.newClass;
byId("name").setAttribute("aria-label", texts.newClass);
byId("hint").textContent = texts.startCamera;

let told = 0;
/** @param {string} text */
function tell(text) {
  clearTimeout(told);
  byId("status").textContent = text;
  told = setTimeout(() => (byId("status").textContent = ""), SHOWN);
}
/** @param {unknown} error */
const fail = (error) => tell(texts.failed(error instanceof Error ? error.message : String(error)));

/** @param {() => Promise<any>} act */
async function attempt(act) {
  tell("");
  try {
    await act();
  } catch (error) {
    fail(error);
  }
}

/** @type {WorkerClient | RemoteWorkerClient} */
let teacher;
/** @type {Session} */
let session;
/** @type {Classes} */
let classes;
let floatBytes = 0;
let answered = 0;

/** @param {import("./frames.js").Picture} picture @returns {Promise<import("./session.js").Seen>} */
async function seen(picture) {
  const [x, small] = await Promise.all([teacher.ask("numbers", picture), thumbnail(picture)]);
  return { x, thumbnail: small };
}

/**
 * Several at a time: the browser decodes one while the worker has another. In the order given, so that the same files are
 * learned and held back every time; those that are no pictures are left out and told.
 * @param {Blob[]} files
 */
async function read(files) {
  /** @type {(import("./session.js").Seen | null)[]} */
  const found = new Array(files.length).fill(null);
  let next = 0;
  let done = 0;
  const lane = async () => {
    while (next < files.length) {
      const k = next++;
      const picture = await ofBlob(files[k]).catch(() => null);
      if (picture) found[k] = await seen(picture);
      done += 1;
      if (done % 10 === 0) tell(texts.reading(done, files.length));
    }
  };
  const lanes = files.some(({ size }) => size > LARGE) ? LARGE_LANES : LANES;
  await Promise.all(Array.from({ length: lanes }, lane));
  const pictures = found.filter((one) => one !== null);
  tell(pictures.length < files.length ? texts.notPictures(files.length - pictures.length) : "");
  return pictures;
}

const source = new Source({
  fail,
  shown: () => wake(),
  teach: (name, files) => attempt(async () => session.learn(name, await read(files))),
});

async function take() {
  const picture = source.current();
  return picture ? seen(picture) : null;
}

/** @type {string[]} */
let opened = [];

/** @param {string} title @param {import("./store.js").Kept[]} pictures */
function openPictures(title, pictures) {
  opened = pictures.map(({ id }) => id);
  byId("dialog-title").textContent = title;
  byId("dialog-pictures").replaceChildren(...pictures.map((picture, k) => classes.pictureItem(picture, k + 1)));
  if (!byId("dialog").open) byId("dialog").showModal();
}

/** After a change: those of the opened pictures that are still there. */
function drawOpened() {
  if (!byId("dialog").open) return;
  const left = session.pictures.filter(({ id }) => opened.includes(id));
  if (left.length) openPictures(byId("dialog-title").textContent, left);
  else byId("dialog").close();
}

function draw() {
  classes.draw();
  drawChart(session.steps);
  drawMatrix(session, openPictures);
  drawCosts(session, floatBytes, answered);
  byId("knows-note").textContent = session.tested.length ? texts.knowsNote : texts.notHeld;
  byId("hash").textContent = session.hash;
  byId("undo").disabled = !session.past.length;
  byId("undo").title = session.past.at(-1)?.text ?? "";
  drawOpened();
}

/** @type {unknown[]} */
let asked = [];
/** @type {number[]} */
let times = [];

async function answer() {
  if (!session?.costs) return;
  const picture = source.current();
  const now = [picture, session.hash, session.share];
  if (now.every((one, k) => one === asked[k])) return;
  asked = now;
  if (!picture) return drawAnswers([], session.classes.length);
  const { shown } = source;
  const found = await teacher.ask("predict", picture, session.share);
  drawAnswers(found.answers, session.classes.length, found.unknown);
  byId("answers").dataset.shown = `${shown} ${now[1]}`;
  byId("answers").dataset.share = now[2];
  if (!found.ms) return;
  times = [...times, found.ms].slice(-15);
  answered = [...times].sort((a, b) => a - b)[times.length >> 1];
}

let wake = () => {};

async function answerAlways() {
  for (;;) {
    try {
      if (!document.hidden) await answer();
    } catch {
      // The worker of another network: the next turn asks the new one.
    }
    await new Promise((done) => {
      setTimeout(done, BETWEEN_ANSWERS);
      wake = () => done(undefined);
    });
  }
}

/** Requests of the page and its worker that are not the loading itself. */
let loaded = new Set();
async function requests() {
  const own = performance.getEntriesByType("resource").map(({ name }) => name);
  return [...own, ...(await teacher.ask("requests"))];
}
async function drawRequests() {
  const later = (await requests()).filter((name) => !loaded.has(name) && !name.startsWith("blob:"));
  byId("requests").textContent = later.length ? texts.someRequests(later.length) : texts.noRequests;
}

/** @param {import("./remote.js").Model} model */
async function use(model) {
  tell(texts.loading);
  teacher?.end();
  if (model.remote) {
    teacher = new RemoteWorkerClient(model);
    session = new RemoteSession(teacher, model);
  } else {
    teacher = new WorkerClient(model);
    teacher.onprogress = drawProgress;
    session = new Session(teacher, await Store.open(), nameOf(model));
  }
  classes = new Classes(session, { take, live: () => source.live, read, tell, attempt, openPictures });
  floatBytes = model.floatBytes;
  answered = 0;
  times = [];
  asked = [];
  const own = session;
  session.addEventListener("change", () => own === session && draw());
  await session.open(model);
  remember(model);
  byId("merge-button").hidden = !session.can.merge;
  tell("");
}

/** The network and the strategy of a state, if it is not the learner's own. @param {Uint8Array} state */
async function useOf(state) {
  const head = headOf(state);
  if (!head || models.some(({ remote }) => remote)) return;
  const model = models.find((one) => one.name === head.name && one.strategy === head.strategy);
  if (!model) throw new Error(texts.otherModel(head.name, head.strategy));
  if (nameOf(model) === session.model) return;
  choose(model);
  await use(model);
}

byId("new").addEventListener("submit", (/** @type {Event} */ event) => {
  event.preventDefault();
  classes.plan(byId("name").value);
  byId("name").value = "";
});
byId("undo").addEventListener("click", () => attempt(async () => tell(texts.undone(await session.undo()))));
byId("clear").addEventListener("click", () => attempt(() => session.clear()));
byId("close").addEventListener("click", () => byId("dialog").close());
byId("download").addEventListener("click", () =>
  attempt(async () => {
    const file = new Blob([/** @type {BlobPart} */ (await session.file())]);
    const link = element("a", { href: URL.createObjectURL(file), download: `${session.model}.state` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }),
);
for (const [id, how] of /** @type {[string, "load" | "mergeState"][]} */ ([["open", "load"], ["merge", "mergeState"]])) // prettier-ignore
  byId(id).addEventListener("change", (/** @type {any} */ event) =>
    attempt(async () => {
      const [file] = event.target.files;
      event.target.value = "";
      if (!file) return;
      const state = new Uint8Array(await file.arrayBuffer());
      if (how === "load") await useOf(state);
      await session[how](state);
    }),
  );

const list = await fetch("models.json");
if (list.status === 401) tell(texts.served.needsLink);
/** @type {import("./remote.js").Model[]} */
const models = list.ok ? await list.json() : [];
const remote = models[0]?.remote;
if (remote) beServed();
const first = offer(models, (model) =>
  attempt(async () => {
    await use(model);
    if (!session.classes.length) tell(texts.ownClasses);
  }),
);

await attempt(() => use(first));
await source.choose("examples");
loaded = new Set(await requests());
drawRequests();
setInterval(drawRequests, 2000);
setInterval(() => drawCosts(session, floatBytes, answered), 2000);
answerAlways();

if (!remote) {
  byId("kept").textContent = texts.notPersistent;
  // Firefox asks the reader first: nothing waits for the answer.
  navigator.storage?.persist?.().then((persistent) => {
    if (persistent) byId("kept").textContent = texts.keptHere;
  });
}
if (!remote && "serviceWorker" in navigator) {
  const registered = await navigator.serviceWorker.register("offline.js").catch(() => null);
  if (registered) {
    await navigator.serviceWorker.ready;
    byId("offline").hidden = false;
  }
}
document.documentElement.dataset.ready = "yes";
