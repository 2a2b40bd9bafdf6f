"""Files as a reader drops them: pictures as base64 texts, and a function of the page that makes a drop of them."""

from __future__ import annotations

import base64
import io

import numpy as np
from PIL import Image

# Of [selector, text in the place, files].
DROP = """([selector, name, files]) => {
  const transfer = new DataTransfer();
  files.forEach((text, k) => {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    transfer.items.add(new File([bytes], `${k}.png`, { type: "image/png" }));
  });
  const place = [...document.querySelectorAll(selector)].find((one) => one.textContent.includes(name));
  place.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }));
}"""


def as_text(image: np.ndarray) -> str:
    file = io.BytesIO()
    Image.fromarray(image).save(file, "png")
    return base64.b64encode(file.getvalue()).decode()
