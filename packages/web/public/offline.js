// Service worker: lets the page load offline, and caches the boards. Queued changes are stored by the page itself.
// While online, only files with hashed names come from the cache.
const FILES = 'lockstep/files'
const DATA = 'lockstep/data'
const SHELL = '/app/'

self.addEventListener('install', (event) => event.waitUntil(cacheFiles()))
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()))

async function cacheFiles() {
  const response = await fetch('/app/files.json', { cache: 'no-cache' })
  const chunks = Object.values(await response.json())
  const names = chunks.flatMap(({ file, css = [], assets = [] }) => [file, ...css, ...assets])
  const files = await caches.open(FILES)
  await files.addAll([SHELL, '/app/early.js', '/app/mark.svg', ...new Set(names.map((name) => `/app/${name}`))])
  await self.skipWaiting()
}

self.addEventListener('fetch', (event) => {
  const { request } = event
  const { origin, pathname } = new URL(request.url)
  if (request.method !== 'GET' || origin !== location.origin) return
  if (request.mode === 'navigate') event.respondWith(networkFirst(request))
  else if (pathname.startsWith('/app/assets/')) event.respondWith(cacheFirst(request))
  else if (pathname.startsWith('/app/')) event.respondWith(fetch(request).catch((error) => fromCache(request, error)))
})

async function networkFirst(request) {
  try {
    // When going back in the history, the browser's HTTP cache could return an old page, which would be cached as the shell.
    const response = await fetch(request, { cache: 'no-cache' })
    if (await isPage(response)) await (await caches.open(FILES)).put(SHELL, response.clone())
    return response
  } catch (error) {
    return fromCache(SHELL, error)
  }
}

/** Files can be opened in a tab, too, and networks answer with pages of their own. Only ours may become the page that is shown offline. */
const isPage = async (response) =>
  response.ok &&
  !response.redirected &&
  response.headers.get('content-type')?.startsWith('text/html') &&
  (await response.clone().text()).includes('<script src="/app/early.js"')

async function cacheFirst(request) {
  try {
    return await fromCache(request)
  } catch {
    const response = await fetch(request)
    if (response.ok) await (await caches.open(FILES)).put(request, response.clone())
    return response
  }
}

/** The cached files are the same for every request, so the Vary header is ignored. */
async function fromCache(request, error = new Error('Not in the cache')) {
  const response = await caches.match(request, { cacheName: FILES, ignoreVary: true })
  if (!response) throw error
  return response
}

/** Writes of all tabs are queued here, so that nothing changes between the comparison and the write. */
let writes = Promise.resolve()
self.addEventListener('message', (event) => {
  writes = writes.then(() => writeData(event.data)).catch(() => {})
  event.waitUntil(writes)
})

/**
 * Caches a board or the list of boards of the user who is logged in, unless a newer version is cached. The page stores the user,
 * and deletes the cache at the end of the login: what is written to a deleted cache is gone.
 */
async function writeData({ path, text, user_id, position }) {
  if (!(await caches.has(DATA))) return
  const data = await caches.open(DATA)
  const owner = await (await data.match('/auth/me'))?.json()
  // The tab may not know yet that its user has logged out.
  if (!position || owner?.id !== user_id) return
  if (isBefore(position, (await data.match(path))?.headers.get('board-position'))) return
  await data.put(
    path,
    new Response(text, { headers: { 'content-type': 'application/json', 'board-position': position } }),
  )
}

/** Positions are `<epoch>.<seq>`. Restoring a backup starts a new epoch, which has a higher number. */
function isBefore(position, other) {
  const [[epoch, seq], [otherEpoch, otherSeq]] = [position, other ?? '0.0'].map((each) => each.split('.').map(Number))
  return epoch < otherEpoch || (epoch === otherEpoch && seq < otherSeq)
}
