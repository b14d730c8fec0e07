import { type FullBoard, isLockstepError, type LoggedEvent } from '@lockstep/client'
import { useCallback, useEffect, useRef, useState } from 'react'
import { client } from '../session.ts'

interface Loaded {
  /** Events have numbers within it; a board that was restored from a backup begins another one. */
  epoch: string
  /** The oldest number that is still kept. */
  first_seq: number
  /** What is shown, in the order of the log. */
  events: readonly LoggedEvent[]
  /** What came since, and waits until it is asked for: nothing jumps under a reader's eyes. */
  waiting: readonly LoggedEvent[]
  /** The numbers lead nowhere any more: only loading anew helps. */
  is_stale: boolean
}
const PAGE = 100
const NEWS_PAGE = 200
const PAUSE_MS = 400

/** The log of a board from its end backwards. `version` is another one whenever there may be news. */
export function useHistory(board_id: string, view: FullBoard, version: unknown) {
  const [loaded, setLoaded] = useState<Loaded>()
  const [failure, setFailure] = useState<unknown>()
  const [isOlderComing, setOlderComing] = useState(false)
  const latest = useRef(loaded)
  latest.current = loaded

  const load = useCallback(() => {
    setFailure(undefined)
    loadEnd(board_id).then(setLoaded, setFailure)
  }, [board_id])
  useEffect(load, [load])

  const loadOlder = async () => {
    if (!loaded) return
    const { epoch, first_seq, events } = loaded
    const to = (events[0]?.seq ?? first_seq) - 1
    setFailure(undefined)
    setOlderComing(true)
    try {
      const older = await readPage(board_id, epoch, Math.max(first_seq - 1, to - PAGE), to)
      setLoaded((now) => now && { ...now, events: [...older, ...now.events] })
    } catch (error) {
      // Gone while somebody was reading: what is shown is all that is left.
      if (isLockstepError(error, 'history_gone')) setLoaded((now) => now && { ...now, first_seq: to + 1 })
      else setFailure(error)
    }
    setOlderComing(false)
  }

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new view or version is the reason to ask
  useEffect(() => {
    const abort = new AbortController()
    const ask = async () => {
      const now = latest.current
      if (!now || now.is_stale) return
      try {
        const { signal } = abort
        const news = await client.listEvents(
          { board_id, after: `${now.epoch}.${headOf(now)}`, limit: NEWS_PAGE },
          { signal, maxTries: 1 },
        )
        setLoaded((then) => {
          const fresh = then && news.filter(({ seq }) => seq > headOf(then))
          return then && fresh && fresh.length > 0 ? { ...then, waiting: [...then.waiting, ...fresh] } : then
        })
      } catch (error) {
        // Without a line there is nothing to tell; the next change of the board asks again.
        if (isLockstepError(error, 'history_gone')) setLoaded((then) => then && { ...then, is_stale: true })
      }
    }
    const timer = setTimeout(() => void ask(), PAUSE_MS)
    return () => {
      clearTimeout(timer)
      abort.abort()
    }
  }, [board_id, view, version, loaded?.waiting.length])

  const showNew = () => {
    if (loaded?.is_stale) load()
    else setLoaded((now) => now && { ...now, events: [...now.events, ...now.waiting], waiting: [] })
  }
  return { loaded, failure, isOlderComing, load, loadOlder, showNew }
}

const headOf = ({ events, waiting, first_seq }: Loaded): number =>
  (waiting.at(-1) ?? events.at(-1))?.seq ?? first_seq - 1

async function loadEnd(board_id: string): Promise<Loaded> {
  // The oldest event that is kept comes with the position of the newest: both ends for one small answer.
  const { position, data } = await client.request('listEvents', { board_id, after: '0', limit: 1 })
  const [epoch = '', seq = '0'] = (position ?? '').split('.')
  const head = Number(seq)
  const first_seq = data[0]?.seq ?? head + 1
  const events = head < first_seq ? [] : await readPage(board_id, epoch, Math.max(first_seq - 1, head - PAGE), head)
  return { epoch, first_seq, events, waiting: [], is_stale: false }
}

const readPage = (board_id: string, epoch: string, after: number, to: number) =>
  client.listEvents({ board_id, after: `${epoch}.${after}`, limit: to - after })
