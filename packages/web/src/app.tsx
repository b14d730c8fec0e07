import { lazy, Suspense, useEffect } from 'react'
import { Link, Redirect, Route, Router, Switch, useLocation, useSearch } from 'wouter'
import { t } from './app-messages.ts'
import { BoardPage } from './board/board-page.tsx'
import { NoSuchBoard } from './board/closed-board.tsx'
import { Overlays } from './palette/overlays.tsx'
import { type SessionState, session, startSession } from './session.ts'
import { Announcer } from './ui/announcer.tsx'
import { Boundary } from './ui/boundary.tsx'
import { Confirmation } from './ui/confirmation.tsx'
import { lazyComponent, whenIdle } from './ui/lazy-component.tsx'
import { StatePage } from './ui/page.tsx'
import { useStore } from './ui/store.ts'
import { Toasts } from './ui/toast-region.tsx'

const LoginPage = lazy(async () => ({ default: (await import('./account/login-page.tsx')).LoginPage }))
const RegisterPage = lazy(async () => ({ default: (await import('./account/register-page.tsx')).RegisterPage }))
const InvitePage = lazy(async () => ({ default: (await import('./account/invite-page.tsx')).InvitePage }))
const ResetPage = lazy(async () => ({ default: (await import('./account/reset-page.tsx')).ResetPage }))
const BoardsPage = lazy(async () => ({ default: (await import('./boards/boards-page.tsx')).BoardsPage }))
const InboxPage = lazy(async () => ({ default: (await import('./inbox/inbox-page.tsx')).InboxPage }))
const SettingsPage = lazy(async () => ({ default: (await import('./settings/settings-page.tsx')).SettingsPage }))
const AccessibilityPage = lazy(async () => ({
  default: (await import('./settings/accessibility-page.tsx')).AccessibilityPage,
}))
const LoginDialog = lazyComponent(async () => (await import('./account/login-dialog.tsx')).LoginDialog)

export function App() {
  const { state, user } = useStore(session)
  const isIn = state === 'in'
  // Then the dialog opens as soon as the session ends, and nothing is done behind it meanwhile.
  useEffect(() => {
    if (isIn) whenIdle(() => void LoginDialog.fetch())
  }, [isIn])
  return (
    <Router base="/app">
      {/* biome-ignore lint/a11y/useValidAnchor: the link navigates to #main; the click handler only moves the focus */}
      <a className="skip" href="#main" onClick={focusMain}>
        {t.skipToContent}
      </a>
      <Boundary fallback={<Broken />}>
        <Suspense fallback={<Waiting />}>
          <Pages state={state} />
        </Suspense>
      </Boundary>
      {isIn && <Overlays />}
      <Confirmation />
      {/* Outside Suspense, which would hide the page while it loads: the page would lose the focus, and take it back afterwards. */}
      {state === 'ended' && user && <LoginDialog user={user} />}
      <Toasts />
      <Announcer />
    </Router>
  )
}

/** Moves the focus as well: otherwise a screen reader continues in the header. */
function focusMain() {
  const main = document.getElementById('main')
  if (!main) return
  main.tabIndex = -1
  main.focus()
}

/** Pages that need no login. */
const publicPages = ['/login', '/register', '/invite', '/reset', '/accessibility']

function Pages({ state }: Pick<SessionState, 'state'>) {
  const [path] = useLocation()
  const search = useSearch()
  if (state === 'starting') return <Waiting />
  if (state === 'unreachable') return <Unreachable />
  if (state === 'out' && !publicPages.includes(path)) {
    const next = path === '/' ? '' : `?next=${encodeURIComponent(path + (search && `?${search}`))}`
    return <Redirect to={`/login${next}`} replace />
  }
  return (
    <Switch>
      <Route path="/login" component={LoginPage} />
      <Route path="/register" component={RegisterPage} />
      <Route path="/invite" component={InvitePage} />
      <Route path="/reset" component={ResetPage} />
      <Route path="/boards" component={BoardsPage} />
      <Route path="/b/:id/*?">{({ id, '*': rest }) => <Board id={id} rest={rest ?? ''} />}</Route>
      <Route path="/inbox" component={InboxPage} />
      <Route path="/settings" component={SettingsPage} />
      <Route path="/accessibility" component={AccessibilityPage} />
      <Route path="/">
        <Redirect to="/boards" replace />
      </Route>
      <Route>
        <StatePage title={t.pageNotFound}>
          <p>{t.checkAddress}</p>
          <Link className="button is-primary" href="/boards">
            {t.yourBoards}
          </Link>
        </StatePage>
      </Route>
    </Switch>
  )
}

const isUuid = (text: string) => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)

/** Keyed by the board's id: the board stays mounted while the panel over it changes. */
function Board({ id, rest }: { id: string; rest: string }) {
  const [panel, item] = rest.split('/')
  if (!isUuid(id)) return <NoSuchBoard />
  return <BoardPage key={id} board_id={id} panel={panel || undefined} item={item} />
}

/** Loading state. CSS delays the text, because most loads finish before a user would notice. */
function Waiting() {
  return (
    <main id="main" className="waiting" aria-busy="true">
      <p>{t.loading}</p>
    </main>
  )
}

/** Error page. Changes and drafts are in the browser's storage, so a reload loses nothing. */
function Broken() {
  return (
    <StatePage title={t.somethingWentWrong}>
      <p>{t.changesAreSaved}</p>
      <button type="button" className="button is-primary" onClick={() => location.reload()}>
        {t.reload}
      </button>
      <a className="button" href="/app/boards">
        {t.yourBoards}
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
    <StatePage title={t.unreachable}>
      <p role="status">{t.retrying}</p>
      <button type="button" className="button" onClick={() => void startSession()}>
        {t.retry}
      </button>
    </StatePage>
  )
}
