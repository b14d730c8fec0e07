import './styles/tokens.css'
import './styles/base.css'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { beginBoard } from './board/board-api.ts'
import { startSession } from './session.ts'
import { whenIdle } from './ui/late.tsx'
import { offlineWorker } from './ui/trusted.ts'

void startSession()
beginBoard()
createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <App />
  </StrictMode>,
)
// Without a network the page itself must still come up; the changes that wait are in it. Should the worker not be had now, the
// next visit asks again.
const keepPages = () => navigator.serviceWorker?.register(offlineWorker(), { scope: '/app/' }).catch(() => {})
if (import.meta.env.PROD) whenIdle(() => void keepPages())
