/** What was learned, for others: a link, a file, and lines to copy that use the file elsewhere. */
import { byId, element } from "./element.js";
import { MAX_LINK, fragmentOf } from "./link.js";
import { texts } from "./texts.js";

const COPIED_TIME = 2000; // milliseconds

/**
 * Lines that work as they are, where the file has the name that the download has.
 * @param {string} file @param {string} model the address of the network's file
 */
const snippets = (file, model) => [
  [texts.inTerminal, `pip install "bitreplay[web]"\nbitreplay predict "${file}" photo.jpg\nbitreplay serve "${file}"`],
  [
    texts.inPython,
    `import numpy as np
from bitreplay import Learner
from PIL import Image

learner = Learner.load("${file}")
picture = np.asarray(Image.open("photo.jpg").convert("RGB"))
print(learner.predict(picture[None])[0])`,
  ],
  ...(model ? [[texts.inPage, ownPage(file, model)]] : []),
  [
    texts.onBoard,
    `pip install bitreplay
bitreplay export "${file}" --target esp32s3 --package arduino --out bitreplay
# Put the folder into Arduino's libraries, upload its example Teach, then:
bitreplay device /dev/ttyACM0 push "${file}"
bitreplay device /dev/ttyACM0 ask photo.jpg`,
  ],
];

/** @param {string} file @param {string} model */
const ownPage = (file, model) => `<!doctype html>
<!-- In its folder: npm install bitreplay, "${file}", and the network,
     ${model} -->
<input type="file" id="photo" accept="image/*" /> <output id="answer"></output>
<script type="module">
  import { openInWorker, pictureOf } from "./node_modules/bitreplay/browser.js";
  const learner = await openInWorker("${model.split("/").at(-1)}");
  await learner.load(new Uint8Array(await (await fetch("${file}")).arrayBuffer()));
  photo.onchange = async () => (answer.value = (await learner.predict(await pictureOf(photo.files[0]))).name);
</script>`;

/** Copies, and says so on the button. @param {any} button @param {() => string} text */
function copies(button, text) {
  const label = button.textContent;
  button.addEventListener("click", async () => {
    button.textContent = await navigator.clipboard.writeText(text()).then(
      () => texts.copied,
      () => texts.notCopied,
    );
    setTimeout(() => (button.textContent = label), COPIED_TIME);
  });
}

/** @param {string} file @param {string} model */
function drawSnippets(file, model) {
  const parts = snippets(file, model).map(([title, text]) => {
    const copy = element("button", { type: "button", className: "plain" }, texts.copy);
    copy.setAttribute("aria-label", `${texts.copy}: ${title}`);
    copies(copy, () => text);
    const lines = element("pre", { tabIndex: 0 }, element("code", {}, text));
    return element("div", {}, element("div", { className: "row" }, element("span", { className: "note" }, title), copy), lines);
  });
  byId("elsewhere").replaceChildren(...parts);
}

/** The link to a state, or null and why there is none. @param {import("./session.js").Session} session */
async function linkOf(session) {
  if (!session.classes.length) return { link: "", note: texts.linkNothing };
  const learned = session.pictures.filter(({ held }) => !held);
  learned.sort((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name))); // those of a class are alike: fewer bytes
  const call = (/** @type {string} */ method, /** @type {any[]} */ ...args) => session.client.call(method, ...args);
  const fragment = await fragmentOf(call, await session.file(), learned.map(({ x }) => x));
  const link = new URL(fragment, location.href).href;
  if (link.length > MAX_LINK) return { link: "", note: texts.linkTooLongToMake(link.length, MAX_LINK) };
  return { link, note: texts.linkNote(link.length) };
}

/**
 * Opens the dialog.
 * @param {import("./session.js").Session} session
 * @param {string} model the address of its network's file; none where a device serves the page and has the learner
 */
export async function openSharing(session, model) {
  drawSnippets(`${session.model}.state`, model);
  for (const id of ["link", "link-note", "copy-link"]) byId(id).hidden = !model;
  byId("link").value = "";
  byId("copy-link").disabled = true;
  byId("share-file").disabled = !session.classes.length;
  byId("link-note").textContent = texts.linkMaking;
  byId("sharing").showModal();
  if (!model) return;
  const { link, note } = await linkOf(session);
  byId("link").value = link;
  byId("link").hidden = !link;
  byId("copy-link").disabled = !link;
  byId("link-note").textContent = note;
}

copies(byId("copy-link"), () => byId("link").value);
byId("close-sharing").addEventListener("click", () => byId("sharing").close());

/** Whether a link may take the place of what was taught here. @param {number} count classes */
export function askToOpen(count) {
  byId("linked-note").textContent = texts.openLinkNote(count);
  const dialog = byId("linked");
  dialog.showModal();
  return new Promise((resolve) => {
    byId("linked-open").onclick = () => dialog.close("open");
    byId("linked-keep").onclick = () => dialog.close("keep");
    dialog.onclose = () => resolve(dialog.returnValue === "open");
    dialog.returnValue = "";
  });
}
