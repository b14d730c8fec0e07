import { lazy, Suspense, useEffect } from 'react'
import { Link, Redirect, Route, Router, Switch, useLocation, useSearch } from 'wouter'
import { BoardPage } from './board/board-page.tsx'
import { NoSuchBoard } from './board/closed-board.tsx'
import { Overlays } from './palette/overlays.tsx'
import { type SessionState, session, startSession } from './session.ts'
import { Announcer } from './ui/announcer.tsx'
import { Boundary } from './ui/boundary.tsx'
import { StatePage } from './ui/page.tsx'
import { useStore } from './ui/store.ts'
import { Toasts } from './ui/toasts.tsx'

const LoginPage = lazy(async () => ({ default: (await import('./account/login-page.tsx')).LoginPage }))
const RegisterPage = lazy(async () => ({ default: (await import('./account/register-page.tsx')).RegisterPage }))
const BoardsPage = lazy(async () => ({ default: (await import('./boards/boards-page.tsx')).BoardsPage }))
const SettingsPage = lazy(async () => ({ default: (await import('./settings/settings-page.tsx')).SettingsPage }))
const AccessibilityPage = lazy(async () => ({
  default: (await import('./settings/accessibility-page.tsx')).AccessibilityPage,
}))
const LoginDialog = lazy(async () => ({ default: (await import('./account/login-dialog.tsx')).LoginDialog }))

export function App() {
  const { state, user } = useStore(session)
  return (
    <Router base="/app">
      {/* biome-ignore lint/a11y/useValidAnchor: it leads there; the click only takes the focus along */}
      <a className="skip" href="#main" onClick={focusMain}>
        Skip to the content
      </a>
      <Boundary fallback={<Broken />}>
        <Suspense fallback={<Waiting />}>
          <Pages state={state} />
          {state === 'ended' && user && <LoginDialog user={user} />}
        </Suspense>
      </Boundary>
      {state === 'in' && <Overlays />}
      <Toasts />
      <Announcer />
    </Router>
  )
}

/** Takes the focus along: those who listen would else go on reading in the header. */
function focusMain() {
  const main = document.getElementById('main')
  if (!main) return
  main.tabIndex = -1
  main.focus()
}

/** What can be read without a login. */
const open = ['/login', '/register', '/accessibility']

function Pages({ state }: Pick<SessionState, 'state'>) {
  const [path] = useLocation()
  const search = useSearch()
  if (state === 'starting') return <Waiting />
  if (state === 'unreachable') return <Unreachable />
  if (state === 'out' && !open.includes(path)) {
    const next = path === '/' ? '' : `?next=${encodeURIComponent(path + (search && `?${search}`))}`
    return <Redirect to={`/login${next}`} replace />
  }
  return (
    <Switch>
      <Route path="/login" component={LoginPage} />
      <Route path="/register" component={RegisterPage} />
      <Route path="/boards" component={BoardsPage} />
      <Route path="/b/:id/*?">{({ id, '*': rest }) => <Board id={id} rest={rest ?? ''} />}</Route>
      <Route path="/settings" component={SettingsPage} />
      <Route path="/accessibility" component={AccessibilityPage} />
      <Route path="/">
        <Redirect to="/boards" replace />
      </Route>
      <Route>
        <StatePage title="There is nothing here">
          <p>The address may be mistyped, or what was here is gone.</p>
          <Link className="button is-primary" href="/boards">
            Your boards
          </Link>
        </StatePage>
      </Route>
    </Switch>
  )
}

const isUuid = (text: string) => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)

/** A board stays open while what is shown over it changes. */
function Board({ id, rest }: { id: string; rest: string }) {
  const [panel, item] = rest.split('/')
  if (!isUuid(id)) return <NoSuchBoard />
  return <BoardPage key={id} board_id={id} panel={panel || undefined} item={item} />
}

/** Nothing at first: most waits are over before anybody has seen them. */
function Waiting() {
  return (
    <main id="main" className="waiting" aria-busy="true">
      <p>Loading…</p>
    </main>
  )
}

/** What was changed or typed is kept in the browser: nothing is lost by beginning anew. */
function Broken() {
  return (
    <StatePage title="Something went wrong in this page">
      <p>Your changes are kept. Load the page again to go on.</p>
      <button type="button" className="button is-primary" onClick={() => location.reload()}>
        Load again
      </button>
      <a className="button" href="/app/boards">
        Your boards
      </a>
    </StatePage>
  )
}

const RETRY_MS = 3_000

function Unreachable() {
  useEffect(() => {
    const timer = setInterval(() => void startSession(), RETRY_MS)
    return () => clearInterval(timer)
  }, [])
  return (
    <StatePage title="The service cannot be reached">
      <p role="status">It is tried again every three seconds.</p>
      <button type="button" className="button" onClick={() => void startSession()}>
        Try now
      </button>
    </StatePage>
  )
}
