/**
 * The classes on the right, one card each. A new name has a card before it has pictures.
 *
 * @typedef {import("./session.js").Session} Session
 * @typedef {{capture: () => Promise<import("./session.js").Encoded | null>, live: () => boolean, readFiles: (files: Blob[]) => Promise<import("./session.js").Encoded[]>, showMessage: (text: string) => void, attempt: (action: () => Promise<any>) => Promise<void>, openPictures: (title: string, pictures: import("./store.js").StoredPicture[]) => void}} Actions
 */
import { byId, element } from "./element.js";
import { texts } from "./texts.js";

const MAX_THUMBNAILS = 8;
const CAPTURE_INTERVAL = 180; // milliseconds between two pictures while the button is held

// A click elsewhere closes a menu.
document.addEventListener("pointerdown", ({ target }) => {
  for (const menu of document.querySelectorAll("details.menu[open]"))
    if (!menu.contains(/** @type {Node} */ (target))) /** @type {HTMLDetailsElement} */ (menu).open = false;
});

/** @type {WeakMap<Uint8Array, string>} */
const urls = new WeakMap();

/** @param {Uint8Array | string} thumbnail a JPEG or its URL */
export function urlOf(thumbnail) {
  if (typeof thumbnail === "string") return thumbnail;
  const jpeg = () => new Blob([/** @type {BlobPart} */ (thumbnail)], { type: "image/jpeg" });
  const url = urls.get(thumbnail) ?? URL.createObjectURL(jpeg());
  urls.set(thumbnail, url);
  return url;
}

export class Classes {
  /** @param {Session} session @param {Actions} actions */
  constructor(session, actions) {
    this.session = session;
    this.actions = actions;
    /** @type {string[]} */
    this.planned = [];
  }

  /** @param {string} name */
  plan(name) {
    const text = name.trim().normalize("NFC");
    if (text && !this.session.classes.some((one) => one.name === text) && !this.planned.includes(text))
      this.planned.unshift(text);
    this.draw();
  }

  draw() {
    const { classes, pictures, steps } = this.session;
    this.planned = this.planned.filter((name) => !classes.some((one) => one.name === name));
    const before = steps.at(-2)?.right ?? {};
    const right = this.session.right();
    const cards = [...this.planned.map((name) => ({ name, pictures: 0 })), ...classes].map((one) => {
      const stored = pictures.filter(({ name }) => name === one.name);
      return this.card(one.name, one.pictures, stored, before[one.name], right[one.name]);
    });
    const list = byId("classes");
    const focused = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset?.key;
    list.replaceChildren(...cards);
    if (focused) /** @type {any} */ (list.querySelector(`[data-key="${CSS.escape(focused)}"]`))?.focus();
    byId("empty").hidden = cards.length > 0;
  }

  /**
   * @param {string} name
   * @param {number} learned
   * @param {import("./store.js").StoredPicture[]} stored
   * @param {[number, number] | undefined} before
   * @param {[number, number] | undefined} right
   */
  card(name, learned, stored, before, right) {
    const held = stored.filter((picture) => picture.held).length;
    const facts = element("p", { className: "facts note" }, element("span", {}, texts.counts(learned, held)));
    if (right) {
      const accuracy = right[0] / right[1];
      const accuracyBefore = before && before[0] / before[1];
      facts.append(element("b", {}, texts.known(accuracyBefore === accuracy ? undefined : accuracyBefore, accuracy)));
    }
    const card = element(
      "li",
      { className: "class" },
      element("div", { className: "row" }, element("h3", {}, name), learned ? this.menu(name, stored, learned) : this.removeButton(name)),
      facts,
    );
    if (stored.length) card.append(this.pictures(name, stored));
    card.append(element("div", { className: "buttons" }, this.holdButton(name), this.fileButton(name)));
    card.addEventListener("dragover", (/** @type {DragEvent} */ event) => {
      event.preventDefault();
      card.classList.add("drop");
    });
    card.addEventListener("dragleave", () => card.classList.remove("drop"));
    card.addEventListener("drop", (/** @type {DragEvent} */ event) => {
      event.preventDefault();
      card.classList.remove("drop");
      this.learnFiles(name, [...(event.dataTransfer?.files ?? [])]);
    });
    return card;
  }

  /** @param {string} name @param {Blob[]} files */
  learnFiles(name, files) {
    if (!files.length) return Promise.resolve();
    return this.actions.attempt(async () => this.session.learn(name, await this.actions.readFiles(files)));
  }

  /** @param {string} name @param {import("./store.js").StoredPicture[]} stored */
  pictures(name, stored) {
    const last = stored.slice(-MAX_THUMBNAILS).reverse();
    const list = element("ul", { className: "pictures" });
    for (const picture of last) {
      const image = element("img", { alt: texts.pictureOf(name), src: urlOf(picture.thumbnail) });
      if (picture.held) image.className = "held";
      list.append(element("li", {}, image));
    }
    const more = stored.length > MAX_THUMBNAILS ? texts.morePictures(stored.length - MAX_THUMBNAILS) : "…";
    const all = element("button", { type: "button", "aria-label": `${more} ${texts.allPictures(name)}` }, more);
    all.addEventListener("click", () => this.actions.openPictures(texts.allPictures(name), stored));
    list.append(element("li", {}, all));
    return list;
  }

  /** Of a class that has no pictures yet. @param {string} name */
  removeButton(name) {
    const button = element("button", { type: "button", className: "plain" }, texts.remove);
    button.setAttribute("aria-label", `${texts.remove}: ${name}`);
    button.addEventListener("click", () => {
      this.planned = this.planned.filter((one) => one !== name);
      this.draw();
    });
    return button;
  }

  /** A picture with a button that forgets it. @param {import("./store.js").StoredPicture} picture @param {number} number */
  pictureItem(picture, number) {
    const forget = element("button", { type: "button", className: "plain" }, texts.forget);
    forget.setAttribute("aria-label", texts.forgetPicture(number, picture.name));
    forget.addEventListener("click", () => this.actions.attempt(() => this.session.forgetPicture(picture)));
    const image = element("img", { loading: "lazy", alt: texts.pictureOf(picture.name), src: urlOf(picture.thumbnail) });
    const item = element("li", {}, image);
    if (picture.held) item.append(element("span", { className: "note" }, texts.heldBack));
    if (picture.held || this.session.can.unlearn) item.append(forget);
    return item;
  }

  /** @param {string} name */
  holdButton(name) {
    const button = element("button", { type: "button", className: "hold" }, texts.hold);
    button.dataset.key = `hold ${name}`;
    button.setAttribute("aria-label", `${texts.hold}: ${name}`);
    /** @type {Promise<void> | null} */
    let turn = null;
    let held = false;
    const start = () => {
      if (turn) return;
      held = true;
      button.classList.add("on");
      turn = this.actions
        .attempt(async () => {
          const encoded = [];
          do {
            const picture = await this.actions.capture();
            if (!picture) {
              this.actions.showMessage(texts.nothingToTake);
              break;
            }
            encoded.push(picture);
            if (!this.actions.live()) break; // a still picture is learned once
            button.textContent = texts.taking(encoded.length);
            await new Promise((resolve) => setTimeout(resolve, CAPTURE_INTERVAL));
          } while (held);
          if (encoded.length) await this.session.learn(name, encoded);
        })
        .finally(() => {
          turn = null;
          button.textContent = texts.hold;
        });
    };
    const stop = () => {
      held = false;
      button.classList.remove("on");
    };
    button.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
      button.setPointerCapture(event.pointerId);
      start();
    });
    for (const kind of ["pointerup", "pointercancel", "blur"]) button.addEventListener(kind, stop);
    button.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== " " && event.key !== "Enter") return;
      event.preventDefault();
      if (!event.repeat) start();
    });
    button.addEventListener("keyup", stop);
    // A screen reader clicks without holding: that is one picture.
    button.addEventListener("click", (/** @type {MouseEvent} */ event) => {
      if (event.detail !== 0) return;
      start();
      stop();
    });
    return button;
  }

  /** @param {string} name */
  fileButton(name) {
    const input = element("input", { type: "file", accept: "image/*", multiple: true });
    input.setAttribute("aria-label", `${texts.files}: ${name}`);
    input.addEventListener("change", () => {
      const files = [...input.files];
      input.value = "";
      this.learnFiles(name, files);
    });
    return element("label", { className: "button" }, element("span", {}, texts.files), input);
  }

  /** @param {string} name @param {import("./store.js").StoredPicture[]} stored @param {number} learned */
  menu(name, stored, learned) {
    const { session, actions } = this;
    const box = element("div");
    const menu = element("details", { className: "menu" }, element("summary", { "aria-label": texts.more(name) }, "⋯"), box);
    const item = (/** @type {string} */ text, /** @type {() => Promise<any>} */ action) => {
      const button = element("button", { type: "button" }, text);
      button.addEventListener("click", () => {
        menu.open = false;
        actions.attempt(action);
      });
      box.append(button);
    };
    item(texts.rename, async () => {
      const to = prompt(texts.renameTo(name), name)?.trim();
      if (to && to !== name) await session.rename(name, to);
    });
    const others = session.classes.filter((one) => one.name !== name);
    const storedLearned = stored.filter(({ held }) => !held).length;
    if (others.length && storedLearned === learned && session.can.unlearn) {
      const choice = element("select", {}, element("option", { value: "" }, "…"));
      for (const other of others) choice.append(element("option", { value: other.name }, other.name));
      choice.addEventListener("change", () => {
        menu.open = false;
        if (choice.value) actions.attempt(() => session.merge(name, choice.value));
      });
      box.append(element("label", { className: "note" }, texts.mergeInto, choice));
    }
    item(texts.forget, () => session.forget(name));
    menu.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      if (event.key === "Escape") menu.open = false;
    });
    return menu;
  }
}
