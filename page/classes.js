/**
 * The classes, one card each. A new one has a card before it has pictures, in which it is named; there are two cards at least.
 * A card stays where it was put, whatever is learned, and after a reload.
 *
 * @typedef {import("./session.js").Session} Session
 * @typedef {{capture: () => Promise<import("./session.js").Encoded | null>, live: () => boolean, readFiles: (files: Blob[]) => Promise<import("./session.js").Encoded[]>, showMessage: (text: string) => void, attempt: (action: () => Promise<any>) => Promise<void>, openPictures: (title: string, pictures: import("./store.js").StoredPicture[]) => void}} Actions
 */
import { byId, element } from "./element.js";
import { texts } from "./texts.js";

const MAX_THUMBNAILS = 3;
const MIN_CARDS = 2;
const MARGIN = 8; // pixels around the class that was taught last
const PLACES = "places"; // in localStorage: a class's name -> when it was put there
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

/** A class that has no pictures yet. @typedef {{name: string, placeholder: string, when: number, card?: HTMLElement}} Planned */

/** What it will be called. @param {Planned} planned */
const nameOfPlanned = ({ name, placeholder }) => name.trim().normalize("NFC") || placeholder;

export class Classes {
  /** @param {Session} session @param {Actions} actions */
  constructor(session, actions) {
    this.session = session;
    this.actions = actions;
    /** @type {Planned[]} */
    this.planned = [];
    /** @type {Record<string, number>} */
    this.places = JSON.parse(localStorage.getItem(PLACES) ?? "{}");
    /** @type {Record<string, number>} */
    this.counts = {}; // of pictures, as drawn last
    this.drawn = false;
    this.addItem = element("li", { className: "add" }, element("button", { type: "button", id: "add" }, texts.add));
    this.addItem.addEventListener("click", () => {
      const planned = this.plan();
      this.draw();
      planned.card?.querySelector("input")?.focus();
    });
  }

  plan() {
    const taken = new Set([...this.session.classes.map(({ name }) => name), ...this.planned.map(({ placeholder }) => placeholder)]);
    let number = 1;
    while (taken.has(texts.placeholder(number))) number++;
    const last = Math.max(Date.now(), ...this.planned.map(({ when }) => when + 1));
    this.planned.push({ name: "", placeholder: texts.placeholder(number), when: last });
    return this.planned[this.planned.length - 1];
  }

  /** When a class was put where it is. One that nobody planned takes the place of an empty card. @param {string} name */
  placeOf(name) {
    const planned = this.planned.find((one) => nameOfPlanned(one) === name) ?? this.planned.find((one) => !one.name);
    if (this.places[name] === undefined) {
      const first = this.session.pictures.find((picture) => picture.name === name);
      this.places[name] = planned?.when ?? first?.when ?? Date.now();
      this.planned = this.planned.filter((one) => one !== planned);
    }
    return this.places[name];
  }

  draw() {
    const { classes, pictures, steps } = this.session;
    const before = steps.at(-2)?.right ?? {};
    const right = this.session.right();
    const cards = classes.map((one) => {
      const stored = pictures.filter(({ name }) => name === one.name);
      return { when: this.placeOf(one.name), card: this.card(one.name, one.pictures, stored, before[one.name], right[one.name]) };
    });
    if (!classes.length) this.places = {}; // else a class that was forgotten has its place when that is undone
    localStorage.setItem(PLACES, JSON.stringify(this.places));
    this.planned = this.planned.filter((one) => !classes.some(({ name }) => name === nameOfPlanned(one)));
    while (cards.length + this.planned.length < MIN_CARDS) this.plan();
    for (const planned of this.planned) {
      planned.card ??= this.plannedCard(planned);
      cards.push({ when: planned.when, card: planned.card });
    }
    const list = byId("classes");
    const focused = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset?.key;
    list.replaceChildren(...cards.sort((a, b) => a.when - b.when).map(({ card }) => card), this.addItem);
    if (focused) /** @type {any} */ (list.querySelector(`[data-key="${CSS.escape(focused)}"]`))?.focus({ preventScroll: true });
    list.classList.toggle("least", classes.length + this.planned.length <= MIN_CARDS);
    const counts = Object.fromEntries(classes.map(({ name, pictures }) => [name, pictures]));
    const taught = classes.find(({ name }) => counts[name] > (this.counts[name] ?? 0));
    if (taught && this.drawn) this.showCard(taught.name);
    this.counts = counts;
    this.drawn = true;
    byId("collect-note").hidden = classes.length >= MIN_CARDS;
  }

  /** Scrolls until neither the stage nor the answers cover a class. @param {string} name */
  showCard(name) {
    const card = [...byId("classes").children].find((one) => one.querySelector("h3")?.textContent === name);
    if (!card) return;
    const { top, bottom, left } = card.getBoundingClientRect();
    const see = byId("see").getBoundingClientRect();
    const above = bottom - Math.min(innerHeight, byId("results").getBoundingClientRect().top) + MARGIN;
    const below = top - (see.right > left ? see.bottom : 0) - MARGIN;
    scrollBy(0, above > 0 ? Math.min(above, below) : Math.min(0, below));
  }

  /** @param {Planned} planned */
  plannedCard(planned) {
    const name = () => nameOfPlanned(planned);
    const input = element("input", { autocomplete: "off", maxLength: 40, placeholder: planned.placeholder, dir: "auto" });
    input.dataset.key = `name ${planned.when}`;
    input.setAttribute("aria-label", texts.nameOf(planned.placeholder));
    const remove = element("button", { type: "button", className: "plain remove" }, "×");
    const [hold, files] = [this.holdButton(name, `hold ${planned.when}`), this.fileButton(name)];
    const label = () => {
      for (const [node, text] of [[hold, texts.hold], [files.control, texts.files], [remove, texts.remove]]) // prettier-ignore
        node.setAttribute("aria-label", `${text}: ${name()}`);
    };
    input.addEventListener("input", () => {
      planned.name = input.value;
      label();
    });
    input.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      if (event.key === "Enter") hold.focus();
    });
    remove.addEventListener("click", () => {
      this.planned = this.planned.filter((one) => one !== planned);
      this.draw();
    });
    label();
    const title = element("div", { className: "row" }, input, remove);
    return this.droppable(name, element("li", { className: "class planned" }, title, hold, element("div", { className: "foot" }, files)));
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
    const facts = element("p", { className: "facts note" }, element("span", {}, texts.counts(learned + held)));
    if (held) facts.append(element("span", { className: "detail" }, texts.ofThese(held)));
    if (right) {
      const accuracy = right[0] / right[1];
      const accuracyBefore = before && before[0] / before[1];
      const text = texts.known(accuracyBefore === accuracy ? undefined : accuracyBefore, accuracy);
      const fell = accuracyBefore !== undefined && accuracy < accuracyBefore;
      facts.append(element("b", { className: fell ? "detail fell" : "detail" }, text));
    }
    const title = element("div", { className: "row" }, element("h3", { dir: "auto" }, name), this.menu(name, stored, learned));
    const card = element("li", { className: "class" }, title);
    if (stored.length) card.append(this.pictures(name, stored));
    const [hold, files] = [this.holdButton(() => name, `hold ${this.placeOf(name)}`), this.fileButton(() => name)];
    hold.setAttribute("aria-label", `${texts.hold}: ${name}`);
    files.control.setAttribute("aria-label", `${texts.files}: ${name}`);
    card.append(hold, element("div", { className: "foot" }, facts, files));
    return this.droppable(() => name, card);
  }

  /** Learns files that are dropped on a card. @param {() => string} name @param {HTMLElement} card */
  droppable(name, card) {
    card.addEventListener("dragover", (/** @type {DragEvent} */ event) => {
      event.preventDefault();
      card.classList.add("drop");
    });
    card.addEventListener("dragleave", () => card.classList.remove("drop"));
    card.addEventListener("drop", (/** @type {DragEvent} */ event) => {
      event.preventDefault();
      card.classList.remove("drop");
      this.learnFiles(name(), [...(event.dataTransfer?.files ?? [])]);
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

  /** @param {() => string} name @param {string} key the same for the next button of this class, which then has the focus */
  holdButton(name, key) {
    const button = element("button", { type: "button", className: "hold" }, texts.hold);
    button.dataset.key = key;
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
          if (encoded.length) await this.session.learn(name(), encoded);
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

  /** @param {() => string} name */
  fileButton(name) {
    const input = element("input", { type: "file", accept: "image/*", multiple: true });
    input.addEventListener("change", () => {
      const files = [...input.files];
      input.value = "";
      this.learnFiles(name(), files);
    });
    return element("label", { className: "button plain" }, element("span", {}, texts.files), input);
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
      if (!to || to === name) return;
      if (!session.classes.some((one) => one.name === to)) this.places[to] = this.placeOf(name);
      await session.rename(name, to);
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
