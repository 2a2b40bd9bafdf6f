/** Every text of the page, in one file. */

/** @param {number} count @param {string} one @param {string} [many] */
const counted = (count, one, many = `${one}s`) => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

/** @param {number} share */
const percent = (share) => `${Math.round(100 * share)} %`;

export const texts = {
  title: "bitreplay",
  lead: "Show it things. It learns while you watch.",
  advanced: "Advanced",
  network: "Network",
  model: "Which",
  strategy: "Learns",
  strategies: /** @type {Record<string, string>} */ ({ exact: "at once (exact)", replay: "in steps (replay)" }),
  left: (/** @type {number} */ seconds) => `Learning: ${counted(seconds, "second")} left`,
  loading: "Loading the network.",
  failed: (/** @type {string} */ reason) => `This did not work: ${reason}`,
  models: (/** @type {string} */ name, /** @type {string} */ size, /** @type {number | undefined} */ components) =>
    `${texts.sizes[name] ?? ""} ${name}${components ? `, ${components} numbers a picture` : ""}, ${size}`.trim(),
  sizes: /** @type {Record<string, string>} */ ({
    efficientnet_tiny: "Small:",
    efficientnet_lite0: "Better:",
    react_tiny: "Binary, small:",
    quicknet: "Binary:",
    react18: "Binary, large:",
    bireal18: "Binary, large:",
  }),
  quick: "This device is quick enough for the better network.",
  slow: "This device is not quick enough for the better network, so it uses the small one.",
  measured: (/** @type {string} */ name, /** @type {number} */ ms) => `Measured: ${texts.took(ms)} a picture with ${name}.`,
  otherModel: (/** @type {string} */ name, /** @type {string} */ strategy) =>
    `the state belongs to the network ${name} with the strategy ${strategy}, which this page does not have.`,
  ownClasses: "Each network and each way to learn has its own classes. The others are kept.",

  see: "What it sees",
  camera: "Camera",
  picture: "Picture",
  examples: "Examples",
  welcome: "Show it two things. It learns to tell them apart, here on your device.",
  startCamera: "Start the camera",
  tryExamples: "or try it with fruit",
  otherCamera: "Other camera",
  noCamera: "There is no camera, or the page may not use it. Choose a picture or an example.",
  startingCamera: "Allow the camera. Its picture never leaves this device.",
  choosePicture: "Choose a picture",
  dropPicture: "Drop a picture here or choose one.",
  chooseExample: "Teach it two, then tap a picture.",
  teachExample: (/** @type {string} */ name) => `Teach ${name}`,
  showExample: (/** @type {string} */ name) => `Show ${name}`,
  nothingKnown: "It knows nothing yet: record two things first.",
  oneKnown: "It knows one thing. With a second one it can tell them apart.",
  nothingShown: "Show it something.",
  notSure: "Not sure",
  unknown: "unknown",
  unlike: "Unlike anything it has learned. The closest classes:",
  took: (/** @type {number} */ ms) => `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`,

  collect: "Collect",
  collectNote: "Show a thing and hold its button.",
  placeholder: (/** @type {number} */ number) => `Class ${number}`,
  nameOf: (/** @type {string} */ name) => `Name of ${name}`,
  add: "Add a class",
  undo: "Undo",
  undone: (/** @type {string} */ step) => `Undone: ${step}`,
  hold: "Hold to record",
  nothingToTake: "There is no picture yet: start the camera or show one first.",
  remove: "Remove",
  taking: (/** @type {number} */ count) => `${counted(count, "picture")}`,
  files: "Add files",
  more: (/** @type {string} */ name) => `More for ${name}`,
  rename: "Rename",
  renameTo: (/** @type {string} */ name) => `New name for ${name}`,
  mergeInto: "Merge into",
  forget: "Forget",
  counts: (/** @type {number} */ count) => counted(count, "picture"),
  ofThese: (/** @type {number} */ held) => `${held} held back`,
  known: (/** @type {number | undefined} */ before, /** @type {number} */ after) =>
    before === undefined ? `${percent(after)} right` : `${percent(before)} → ${percent(after)} right`,
  heldBack: "held back",
  forgetPicture: (/** @type {number} */ number, /** @type {string} */ name) => `Forget picture ${number} of ${name}`,
  pictureOf: (/** @type {string} */ name) => `Picture of ${name}`,
  allPictures: (/** @type {string} */ name) => `All pictures of ${name}`,
  morePictures: (/** @type {number} */ count) => `+${count}`,
  notPictures: (/** @type {number} */ count) =>
    `${counted(count, "file")} could not be read as ${count === 1 ? "a picture" : "pictures"}.`,
  reading: (/** @type {number} */ done, /** @type {number} */ all) => `${done} of ${all} pictures`,

  learnsAtOnce: "It learns at once",
  learnsInSteps: "It learns in steps",
  hasLearned: "It has learned already",
  noTraining: "No button for that: it learns when you let go.",
  lastStep: (/** @type {string} */ what, /** @type {number | undefined} */ ms) =>
    `${what[0].toUpperCase()}${what.slice(1)}${ms === undefined ? "" : ` in ${(ms / 1000).toFixed(2)} s`}.`,
  try: "Try it",

  did: {
    learn: (/** @type {number} */ count, /** @type {string} */ name) => `${counted(count, "picture")} of ${name} learned`,
    forget: (/** @type {string} */ name) => `${name} forgotten`,
    forgetPicture: (/** @type {string} */ name) => `one picture of ${name} forgotten`,
    rename: (/** @type {string} */ from, /** @type {string} */ to) => `${from} renamed to ${to}`,
    merge: (/** @type {string} */ from, /** @type {string} */ to) => `${from} merged into ${to}`,
    load: "a state opened",
    mergeState: "a state merged",
    clear: "everything forgotten",
  },

  knows: "How well it knows them",
  knowsNote: "Every fifth picture of a class is held back and never learned. These are the answers to those pictures.",
  notHeld: "Every fifth picture of a class is held back to test with.",
  accuracy: "Accuracy after each step",
  accuracyPoint: (/** @type {number} */ share, /** @type {string} */ step) => `${percent(share)} after ${step}`,
  matrix: "Rows: what the picture shows. Columns: what it was taken for.",
  cell: (/** @type {number} */ count, /** @type {string} */ actual, /** @type {string} */ predicted) =>
    `${counted(count, "picture")} of ${actual} taken for ${predicted}`,

  costs: "What it costs",
  weights: "Network, its file",
  state: "What was learned",
  arena: "Working memory",
  float: "The same network in float",
  time: "One picture",
  learning: "Learning",
  answering: (/** @type {number} */ ms) => `${texts.took(ms)} to answer`,
  learned: (/** @type {number} */ ms, /** @type {number} */ count) => `${texts.took(ms)} for ${counted(count, "picture")}`,
  instructions: (/** @type {string} */ isa) => (isa === "wasm" ? "with SIMD" : "without SIMD"),

  share: "Share",
  copyLink: "Copy link",
  downloadFile: "Download the file",
  linkNote: (/** @type {number} */ length) =>
    `The link has ${length.toLocaleString("en")} characters. It holds what the network made of your pictures, in numbers, and not the pictures. Whoever opens it goes on from there. Messengers may cut a long link off: send the file then.`,
  linkMaking: "Making the link.",
  linkNothing: "It knows nothing yet: there is nothing to share.",
  linkTooLongToMake: (/** @type {number} */ length, /** @type {number} */ limit) =>
    `A link would have ${length.toLocaleString("en")} characters, and more than ${limit.toLocaleString("en")} are not offered: send the file. Links are short for few pictures, all of them taught here and no class forgotten, and for networks of 128 numbers a picture (Advanced).`,
  linkTooLong: (/** @type {number} */ length, /** @type {number} */ limit) =>
    `the link has ${length.toLocaleString("en")} characters; at most ${limit.toLocaleString("en")} are read.`,
  linkDamaged: "the link is damaged or not complete. What you have taught is unchanged.",
  linkOpened: "Opened from the link.",
  openLink: "Open this link?",
  openLinkNote: (/** @type {number} */ count) =>
    `You have taught ${counted(count, "class", "classes")} here. Opening the link puts its classes in their place; Undo brings yours back until the page is closed.`,
  openIt: "Open it",
  keepMine: "Keep mine",

  file: "State",
  hashNote: "Everything that it knows, in one file. The same pixels give the same hash on any other device.",
  download: "Download",
  open: "Open",
  mergeState: "Merge",
  clear: "Forget everything",
  elsewhere: "Use the file elsewhere",
  inTerminal: "In a terminal",
  inPython: "In Python",
  inPage: "In your own page",
  onBoard: "On a board: bitreplay plan says which ones have the memory",
  copy: "Copy",
  copied: "Copied.",
  notCopied: "Not allowed: mark the text and copy it.",
  keptHere: "Stored in this browser.",
  notPersistent: "Stored in this browser, which may delete it when space is short. Download what you need.",

  requests: "Requests",
  noRequests: "None since the page was loaded. Pictures stay on this device.",
  someRequests: (/** @type {number} */ count) =>
    `${counted(count, "request")} since the page was loaded, all for its own files. Pictures stay on this device.`,
  offline: "Ready to work offline.",
  notices: "Licences of code, photographs and networks",

  /** These replace the texts above where a device serves the page. */
  served: {
    welcome: "Show it two things. The device that serves this page learns to tell them apart.",
    startingCamera: "Allow the camera. Its picture goes to the device that serves this page, and nowhere else.",
    noRequests: "Pictures go to the device that serves this page, and nowhere else.",
    someRequests: (/** @type {number} */ count) =>
      `${counted(count, "request")} since the page was loaded, all to the device that serves it.`,
    instructions: (/** @type {string} */ isa) => `on the device, ${isa}`,
    kept: "Stored on the device that serves this page. Everyone with access sees the same.",
    invite: "Link for another browser",
    invited: (/** @type {string} */ link) => `Works once, for ten minutes: ${link}`,
    needsLink: "This device needs a link or a token. Ask whoever started it.",
  },

  close: "Close",
  bytes: (/** @type {number} */ count) =>
    count < 1e6 ? `${Math.max(1, Math.round(count / 1e3)).toLocaleString("en")} KB` : `${(count / 1e6).toFixed(1)} MB`,
};
