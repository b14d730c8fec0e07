// Lets the page come up without a network, with the boards that were open before. What the user changes is kept by the
// page itself. Whoever is online is never answered from here, but for files whose names change with what is in them.
const FILES = 'lockstep/files'
const DATA = 'lockstep/data'
const SHELL = '/app/'

/** Pages that came up without a network: they may look at what was kept. */
const away = new Set()

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
  if (request.mode === 'navigate') event.respondWith(answerPage(event))
  else if (pathname.startsWith('/app/assets/')) event.respondWith(answerFile(request))
  else if (pathname.startsWith('/app/')) event.respondWith(fetch(request).catch((error) => kept(FILES, request, error)))
  else if (/^(?:\/auth\/me|\/boards\/[\w-]+)$/.test(pathname)) event.respondWith(answerData(event))
})

async function answerPage({ request, resultingClientId }) {
  try {
    const answer = await fetch(request)
    if (answer.ok) await (await caches.open(FILES)).put(SHELL, answer.clone())
    return answer
  } catch (error) {
    away.add(resultingClientId)
    return kept(FILES, SHELL, error)
  }
}

async function answerFile(request) {
  try {
    return await kept(FILES, request)
  } catch {
    const answer = await fetch(request)
    if (answer.ok) await (await caches.open(FILES)).put(request, answer.clone())
    return answer
  }
}

/** The page keeps these itself, as it knew them last. */
async function answerData({ request, clientId }) {
  try {
    const answer = await fetch(request)
    away.delete(clientId)
    return answer
  } catch (error) {
    if (!away.has(clientId)) throw error
    return kept(DATA, request, error)
  }
}

/** What is kept is the same for whoever asks, whatever an answer varies by. */
async function kept(cacheName, request, error = new Error('It is not kept')) {
  const answer = await caches.match(request, { cacheName, ignoreVary: true })
  if (!answer) throw error
  return answer
}
