/** The page: what it sees, then the three steps: collect, learned already, try. Networks, accuracy and the state come behind a button. */
import { drawAnswers } from "./answers.js";
import { better, choose, drawSpeed, nameOf, offer, remember } from "./choice.js";
import { Classes } from "./classes.js";
import { drawCosts } from "./costs.js";
import { byId, element, fillTexts } from "./element.js";
import { ofBlob, thumbnail } from "./frames.js";
import { drawProgress } from "./progress.js";
import { RemoteSession, RemoteWorkerClient, useServedTexts } from "./remote.js";
import { Session } from "./session.js";
import { isLink, stateOf } from "./link.js";
import { askToOpen, openSharing } from "./sharing.js";
import { Source } from "./source.js";
import { Store } from "./store.js";
import { WorkerClient } from "./worker_client.js";
import { drawChart, drawMatrix } from "./evaluation.js";
import { texts } from "./texts.js";

const BETWEEN_ANSWERS = 150; // milliseconds: several a second
const MESSAGE_TIME = 12000; // milliseconds
const READERS = 4; // files that are read at the same time
const LARGE_FILE_READERS = 2; // fewer: decoding a photograph of 12 megapixels takes 48 MB
const LARGE_FILE = 300e3; // bytes

fillTexts();

let messageTimer = 0;
/** @param {string} text */
function showMessage(text) {
  clearTimeout(messageTimer);
  byId("status").textContent = text;
  messageTimer = setTimeout(() => (byId("status").textContent = ""), MESSAGE_TIME);
}
/** @param {unknown} error */
const showError = (error) => showMessage(texts.failed(error instanceof Error ? error.message : String(error)));

/** Shows an error instead of throwing it. @param {() => Promise<any>} action */
async function attempt(action) {
  showMessage("");
  try {
    await action();
  } catch (error) {
    showError(error);
  }
}

/** @type {WorkerClient | RemoteWorkerClient} */
let client;
/** @type {Session} */
let session;
/** @type {Classes} */
let classes;
let floatBytes = 0;
let answered = 0;

/** @param {import("./frames.js").Picture} picture @returns {Promise<import("./session.js").Encoded>} */
async function encode(picture) {
  const [x, small] = await Promise.all([client.call("encode", picture), thumbnail(picture)]);
  return { x, thumbnail: small };
}

/**
 * Several at a time: the browser decodes one while the worker encodes another. Their order is kept, so that the same files are
 * learned and held back every time. Files that are not pictures are skipped with a message.
 * @param {Blob[]} files
 */
async function readFiles(files) {
  /** @type {(import("./session.js").Encoded | null)[]} */
  const encoded = new Array(files.length).fill(null);
  let next = 0;
  let done = 0;
  const reader = async () => {
    while (next < files.length) {
      const k = next++;
      const picture = await ofBlob(files[k]).catch(() => null);
      if (picture) encoded[k] = await encode(picture);
      done += 1;
      if (done % 10 === 0) showMessage(texts.reading(done, files.length));
    }
  };
  const readers = files.some(({ size }) => size > LARGE_FILE) ? LARGE_FILE_READERS : READERS;
  await Promise.all(Array.from({ length: readers }, reader));
  const pictures = encoded.filter((one) => one !== null);
  showMessage(pictures.length < files.length ? texts.notPictures(files.length - pictures.length) : "");
  return pictures;
}

const source = new Source({
  showError,
  onShown: () => wake(),
  learn: (name, files) => attempt(async () => session.learn(name, await readFiles(files))),
});

async function capture() {
  const picture = source.current();
  return picture ? encode(picture) : null;
}

/** @type {string[]} */
let opened = [];

/** @param {string} title @param {import("./store.js").StoredPicture[]} pictures */
function openPictures(title, pictures) {
  opened = pictures.map(({ id }) => id);
  byId("dialog-title").textContent = title;
  byId("dialog-pictures").replaceChildren(...pictures.map((picture, k) => classes.pictureItem(picture, k + 1)));
  if (!byId("dialog").open) byId("dialog").showModal();
}

/** After a change: redraws those of the opened pictures that are still there. */
function drawOpened() {
  if (!byId("dialog").open) return;
  const remaining = session.pictures.filter(({ id }) => opened.includes(id));
  if (remaining.length) openPictures(byId("dialog-title").textContent, remaining);
  else byId("dialog").close();
}

/** Step 2: nothing is to be done, and what was done last. */
function drawLearned() {
  const { learned, steps, can } = session;
  const head = session.classes.length ? texts.hasLearned : can.unlearn ? texts.learnsAtOnce : texts.learnsInSteps;
  byId("learned-head").textContent = head;
  const last = steps.at(-1)?.what;
  byId("learned-note").textContent = last ? texts.lastStep(last, learned?.what === last ? learned.ms : undefined) : texts.noTraining;
}

function draw() {
  classes.draw();
  drawLearned();
  drawChart(session.steps);
  drawMatrix(session, openPictures);
  drawCosts(session, floatBytes, answered);
  byId("knows-note").textContent = session.evaluated.length ? texts.knowsNote : texts.notHeld;
  byId("hash").textContent = session.hash;
  byId("undo").disabled = !session.undoStack.length;
  byId("undo").title = session.undoStack.at(-1)?.text ?? "";
  drawOpened();
}

/** @type {unknown[]} what the last answer was for */
let lastQuery = [];
/** @type {number[]} */
let times = [];

async function answer() {
  if (!session?.costs) return;
  const picture = source.current();
  const query = [picture, session.hash, session.share];
  if (query.every((one, k) => one === lastQuery[k])) return;
  lastQuery = query;
  if (!picture) return drawAnswers([], session.classes.length);
  const { shown } = source;
  const { answers, unknown, ms } = await client.call("predict", picture, session.share);
  drawAnswers(answers, session.classes.length, unknown);
  byId("answers").dataset.shown = `${shown} ${query[1]}`;
  byId("answers").dataset.share = query[2];
  if (!ms) return;
  times = [...times, ms].slice(-15);
  answered = [...times].sort((a, b) => a - b)[times.length >> 1];
}

let wake = () => {};

async function answerForever() {
  for (;;) {
    try {
      if (!document.hidden) await answer();
    } catch {
      // The network was changed meanwhile: the next turn asks its worker.
    }
    await new Promise((resolve) => {
      setTimeout(resolve, BETWEEN_ANSWERS);
      wake = () => resolve(undefined);
    });
  }
}

/** Requests of the page and its worker while they were loaded. */
let loaded = new Set();
async function requests() {
  const ofPage = performance.getEntriesByType("resource").map(({ name }) => name);
  return [...ofPage, ...(await client.call("requests"))];
}
async function drawRequests() {
  const later = (await requests()).filter((name) => !loaded.has(name) && !name.startsWith("blob:"));
  byId("requests").textContent = later.length ? texts.someRequests(later.length) : texts.noRequests;
}

/** @param {import("./remote.js").Model} model */
async function use(model) {
  showMessage(texts.loading);
  client?.terminate();
  if (model.remote) {
    client = new RemoteWorkerClient(model);
    session = new RemoteSession(client, model);
  } else {
    client = new WorkerClient(model);
    client.onprogress = drawProgress;
    session = new Session(client, await Store.open(), nameOf(model));
  }
  classes = new Classes(session, {
    capture,
    live: () => source.live,
    readFiles,
    showMessage,
    attempt,
    openPictures,
  });
  floatBytes = model.floatBytes;
  answered = 0;
  times = [];
  lastQuery = [];
  const current = session;
  session.addEventListener("change", () => current === session && draw());
  await session.open(model);
  remember(model);
  byId("merge-button").hidden = !session.can.merge;
  showMessage("");
}

/** Switches to the network and the strategy of a state. @param {Uint8Array} state */
async function useModelOf(state) {
  const head = remote ? null : await client.call("stateHead", state);
  if (!head) return;
  const model = models.find(
    (one) => one.name === head.name && one.strategy === head.strategy && (one.components ?? 0) === head.components,
  );
  if (!model) throw new Error(texts.otherModel(head.name, head.strategy));
  if (nameOf(model) === session.model) return;
  choose(model);
  await use(model);
}

const modelInUse = () => models.find((one) => nameOf(one) === session.model) ?? models[0];

/**
 * Opens a state with the network that it belongs to. If that fails, or is not agreed to, everything is as it was.
 * @param {Uint8Array} state
 * @param {() => Promise<boolean>} agreed
 */
async function openState(state, agreed) {
  const before = modelInUse();
  let opened = false;
  try {
    await useModelOf(state);
    if (await agreed()) {
      await session.load(state);
      opened = true;
    }
  } finally {
    if (!opened && modelInUse() !== before) {
      choose(before);
      await use(before);
    }
  }
}

/** Opens what the address's fragment holds, if it is a state. */
async function openLink() {
  const fragment = location.hash;
  if (remote || !isLink(fragment)) return;
  history.replaceState(null, "", location.pathname + location.search); // neither kept in the history nor opened again
  const state = await stateOf((method, ...args) => client.call(method, ...args), fragment);
  await openState(state, async () => {
    const { classes } = session;
    const isThere = session.state?.length === state.length && state.every((byte, k) => byte === session.state?.[k]);
    return !isThere && (!classes.length || askToOpen(classes.length));
  });
}

byId("share").addEventListener("click", () =>
  attempt(() => openSharing(session, remote ? "" : new URL(modelInUse().file, location.href).href)),
);
window.addEventListener("hashchange", () => attempt(openLink));
byId("more").addEventListener("click", () => {
  const isOpen = document.body.classList.toggle("advanced");
  byId("advanced").hidden = !isOpen;
  byId("more").setAttribute("aria-expanded", String(isOpen));
  if (isOpen) byId("advanced").scrollIntoView();
});
byId("undo").addEventListener("click", () => attempt(async () => showMessage(texts.undone(await session.undo()))));
byId("clear").addEventListener("click", () => attempt(() => session.clear()));
byId("close").addEventListener("click", () => byId("dialog").close());
for (const id of ["download", "share-file"])
  byId(id).addEventListener("click", () =>
    attempt(async () => {
      const file = new Blob([/** @type {BlobPart} */ (await session.file())]);
      const link = element("a", { href: URL.createObjectURL(file), download: `${session.model}.state` });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    }),
  );
for (const [id, method] of /** @type {[string, "load" | "mergeState"][]} */ ([["open", "load"], ["merge", "mergeState"]])) // prettier-ignore
  byId(id).addEventListener("change", (/** @type {any} */ event) =>
    attempt(async () => {
      const [file] = event.target.files;
      event.target.value = "";
      if (!file) return;
      const state = new Uint8Array(await file.arrayBuffer());
      if (method === "load") await openState(state, async () => true);
      else await session.mergeState(state);
    }),
  );

const list = await fetch("models.json");
if (list.status === 401) showMessage(texts.served.needsLink);
/** @type {import("./remote.js").Model[]} */
const models = list.ok ? await list.json() : [];
const remote = models[0]?.remote;
if (remote) useServedTexts();
const first = offer(models, (model) =>
  attempt(async () => {
    await use(model);
    if (!session.classes.length) showMessage(texts.ownClasses);
  }),
);

await source.choose("");
await source.listExamples().catch(showError);
await attempt(async () => {
  await use(first);
  const isNew = !remote && first === models[0] && !session.classes.length && models[1]?.strategy === first.strategy;
  const other = isNew ? await better(models, (method, ...args) => client.call(method, ...args)) : null;
  if (!other) return;
  choose(other);
  await use(other);
});
await attempt(openLink);
drawSpeed(models);
loaded = new Set(await requests());
drawRequests();
setInterval(drawRequests, 2000);
setInterval(() => drawCosts(session, floatBytes, answered), 2000);
answerForever();

if (!remote) {
  byId("kept").textContent = texts.notPersistent;
  // Firefox asks the reader first, so nothing waits for the answer.
  navigator.storage?.persist?.().then((persistent) => {
    if (persistent) byId("kept").textContent = texts.keptHere;
  });
}
// Those who have allowed the camera before see it at once.
navigator.permissions
  ?.query({ name: /** @type {any} */ ("camera") })
  .then(({ state }) => (state === "granted" && !source.kind ? source.choose("camera") : undefined))
  .catch(() => undefined);
if (!remote && "serviceWorker" in navigator) {
  const registered = await navigator.serviceWorker.register("offline.js").catch(() => null);
  if (registered) {
    await navigator.serviceWorker.ready;
    // It keeps what is loaded through it: the network that was loaded before it was there too.
    const { file } = modelInUse();
    if (!(await caches.match(file))) await fetch(file);
    byId("offline").hidden = false;
  }
}
document.documentElement.dataset.ready = "yes";
