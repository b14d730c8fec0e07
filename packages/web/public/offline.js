// Lets the page come up without a network, and keeps for it what it knew last. What the user changes is kept by the page itself.
// While online, only files with hashed names are answered from here.
const FILES = 'lockstep/files'
const DATA = 'lockstep/data'
const SHELL = '/app/'

self.addEventListener('install', (event) => event.waitUntil(keepFiles()))
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()))

async function keepFiles() {
  const answer = await fetch('/app/files.json', { cache: 'no-cache' })
  const chunks = Object.values(await answer.json())
  const names = chunks.flatMap(({ file, css = [], assets = [] }) => [file, ...css, ...assets])
  const files = await caches.open(FILES)
  await files.addAll([SHELL, '/app/theme.js', '/app/mark.svg', ...new Set(names.map((name) => `/app/${name}`))])
  await self.skipWaiting()
}

self.addEventListener('fetch', (event) => {
  const { request } = event
  const { origin, pathname } = new URL(request.url)
  if (request.method !== 'GET' || origin !== location.origin) return
  if (request.mode === 'navigate') event.respondWith(answerPage(request))
  else if (pathname.startsWith('/app/assets/')) event.respondWith(answerFile(request))
  else if (pathname.startsWith('/app/')) event.respondWith(fetch(request).catch((error) => kept(request, error)))
})

async function answerPage(request) {
  try {
    // On the way back in the history the browser would take an old page from its cache, and it would become the shell.
    const answer = await fetch(request, { cache: 'no-cache' })
    if (answer.ok) await (await caches.open(FILES)).put(SHELL, answer.clone())
    return answer
  } catch (error) {
    return kept(SHELL, error)
  }
}

async function answerFile(request) {
  try {
    return await kept(request)
  } catch {
    const answer = await fetch(request)
    if (answer.ok) await (await caches.open(FILES)).put(request, answer.clone())
    return answer
  }
}

/** What is kept is the same for whoever asks, whatever an answer varies by. */
async function kept(request, error = new Error('It is not kept')) {
  const answer = await caches.match(request, { cacheName: FILES, ignoreVary: true })
  if (!answer) throw error
  return answer
}

/** All tabs write through here, one after the other: between the comparison and the write nothing changes. */
let written = Promise.resolve()
self.addEventListener('message', (event) => {
  written = written.then(() => keepData(event.data)).catch(() => {})
  event.waitUntil(written)
})

/** Keeps the user, or a board of theirs; never one in the place of a newer one. Without a text, forgets them. */
async function keepData({ path, text, user_id, position }) {
  if (text === undefined) return caches.delete(DATA)
  const owner = await (await (await caches.open(DATA)).match('/auth/me'))?.json()
  // A tab that does not know yet that its user has logged out keeps nothing.
  if (position && owner?.id !== user_id) return
  if (owner && owner.id !== user_id) await caches.delete(DATA)
  const data = await caches.open(DATA)
  if (position && isBefore(position, (await data.match(path))?.headers.get('board-position'))) return
  const headers = { 'content-type': 'application/json', ...(position && { 'board-position': position }) }
  await data.put(path, new Response(text, { headers }))
}

/** Positions are `<epoch>.<seq>`. A new epoch, after a backup was restored, always has a larger number. */
function isBefore(position, other) {
  const [[epoch, seq], [other_epoch, other_seq]] = [position, other ?? '0.0'].map((each) => each.split('.').map(Number))
  return epoch < other_epoch || (epoch === other_epoch && seq < other_seq)
}
