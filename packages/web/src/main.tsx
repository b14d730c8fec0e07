import './styles/tokens.css'
import './styles/base.css'
import './styles/controls.css'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { preloadBoard } from './board-state/board-api.ts'
import { startSession, watchLogin } from './session.ts'
import { whenIdle } from './ui/lazy-component.tsx'
import { offlineWorker } from './ui/trusted.ts'

watchLogin()
void startSession()
preloadBoard()
createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <App />
  </StrictMode>,
)
// The service worker lets the page load offline, so that queued changes stay visible. If the browser is offline now or the
// registration fails, the next visit tries again.
const registerWorker = () =>
  navigator.onLine && navigator.serviceWorker?.register(offlineWorker(), { scope: '/app/' }).catch(() => {})
if (import.meta.env.PROD) whenIdle(() => void registerWorker())
