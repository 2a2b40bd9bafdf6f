/**
 * In the place of offline.js where a device serves the page. A browser that had the page without a server at this address
 * before would go on showing that one: its files are dropped, and so is this worker.
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
