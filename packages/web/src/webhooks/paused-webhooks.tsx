import type { Webhook } from '@lockstep/client'
import { useEffect, useState } from 'react'
import { useLocation } from 'wouter'
import { useTools } from '../board-state/board-tools.ts'
import { filterQuery } from '../board-state/filter-address.ts'
import { useOffline } from '../board-state/use-offline.ts'
import { client } from '../session.ts'
import { announce } from '../ui/announcer.tsx'
import { serverLimits } from '../ui/server-limits.ts'
import { t } from './messages.ts'

const POLL_MS = 60_000

/** Banner above the board of an owner while webhooks are paused. */
export function PausedWebhooks() {
  const { board_id } = useTools()
  const [, navigate] = useLocation()
  const paused = usePausedWebhooks(board_id)
  const [first] = paused
  const text = first && t.pausedNotice({ count: paused.length, name: first.name })
  useEffect(() => {
    if (text) announce(text)
  }, [text])
  if (!first) return null
  const path = `/b/${board_id}/webhooks${paused.length === 1 ? `/${first.id}` : ''}`
  return (
    <section className="banner" aria-label={t.title}>
      <p>{text}</p>
      <button type="button" className="button" onClick={() => navigate(path + filterQuery())}>
        {t.showPaused({ count: paused.length })}
      </button>
    </section>
  )
}

/** The paused webhooks, read now and then while the page is visible, but not while the dialog reads them. */
function usePausedWebhooks(board_id: string): readonly Webhook[] {
  const isInDialog = useLocation()[0].startsWith(`/b/${board_id}/webhooks`)
  const isOffline = useOffline()
  const [paused, setPaused] = useState<readonly Webhook[]>([])
  const [isOn, setOn] = useState(false)
  useEffect(() => void serverLimits().then((limits) => setOn(limits?.has_webhooks ?? false)), [])
  useEffect(() => {
    if (isInDialog || isOffline || !isOn) return
    let isCurrent = true
    const load = () => {
      if (document.visibilityState !== 'visible') return
      client.listWebhooks({ board_id }, { maxTries: 1 }).then(
        (webhooks) => isCurrent && setPaused(webhooks.filter(({ state }) => state === 'paused')),
        // The next one may succeed. Other requests show what is wrong.
        () => {},
      )
    }
    load()
    const timer = setInterval(load, POLL_MS)
    document.addEventListener('visibilitychange', load)
    return () => {
      isCurrent = false
      clearInterval(timer)
      document.removeEventListener('visibilitychange', load)
    }
  }, [board_id, isInDialog, isOffline, isOn])
  return paused
}
