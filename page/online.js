/**
 * Replaces offline.js where a device serves the page. A browser that cached the static page at this address would go on showing
 * it: this worker deletes the cached files and unregisters itself.
 */
self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => {
  event.waitUntil(
    (async () => {
      for (const name of await caches.keys()) await caches.delete(name);
      await self.registration.unregister();
      for (const client of await self.clients.matchAll()) client.navigate(client.url);
    })(),
  );
});
