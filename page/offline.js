/**
 * The service worker: keeps the page's files, so that it works offline, and asks for nothing that is not its own. Models and
 * examples are kept when they are first loaded. `make page` writes the list of files and its hash in place of these.
 */
const FILES = ["./"];
const VERSION = "development";

self.addEventListener("install", (event) => {
  event.waitUntil(
    (async () => {
      const cache = await caches.open(VERSION);
      await cache.addAll(FILES);
      await self.skipWaiting();
    })(),
  );
});

self.addEventListener("activate", (event) => {
  event.waitUntil(
    (async () => {
      for (const name of await caches.keys()) if (name !== VERSION) await caches.delete(name);
      await self.clients.claim();
    })(),
  );
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET" || new URL(request.url).origin !== self.location.origin) return;
  event.respondWith(
    (async () => {
      const cache = await caches.open(VERSION);
      const kept = await cache.match(request, { ignoreSearch: true });
      if (kept) return kept;
      const found = await fetch(request);
      if (found.ok) await cache.put(request, found.clone());
      return found;
    })(),
  );
});
