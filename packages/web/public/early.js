// Runs before the first paint, while the client is still loading. A separate file, because the Content-Security-Policy forbids
// inline scripts.
let isLoggedIn = false
try {
  isLoggedIn = localStorage.getItem('lockstep/login') !== null
  // So that the page does not flash in the wrong theme.
  const theme = localStorage.getItem('lockstep/theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
} catch {
  // Storage may be blocked: use the system's theme.
}
// The first requests of the page, in parallel with its scripts. The client takes each response once. Without a login they would
// be rejected.
const board = /^\/app\/b\/([0-9a-f-]{36})(?:\/|$)/i.exec(location.pathname)?.[1]
globalThis.earlyResponses = new Map(
  (isLoggedIn ? ['/auth/me', ...(board ? [`/boards/${board}`] : [])] : []).map((path) => {
    const response = fetch(path, { headers: { accept: 'application/json' }, cache: 'no-cache' })
    // The client handles the error.
    response.catch(() => {})
    return [path, response]
  }),
)
