import { type FullBoard, isLockstepError, type LoggedEvent } from '@lockstep/client'
import { useCallback, useEffect, useInsertionEffect, useRef, useState } from 'react'
import { client } from '../session.ts'

interface LoadedLog {
  /** Event numbers are valid within an epoch. Restoring a backup starts a new one. */
  epoch: string
  /** The oldest event number that still exists. */
  firstSeq: number
  /** The events that are shown, oldest first. */
  events: readonly LoggedEvent[]
  /** New events. They are shown on request, so that the list does not jump. */
  waiting: readonly LoggedEvent[]
  /** The epoch has changed: the log must be reloaded. */
  isStale: boolean
}
const PAGE_SIZE = 100
const NEW_PAGE_SIZE = 200
const DEBOUNCE_MS = 400

/** Loads the event log from its end backwards. A changed `version` means that there may be new events. */
export function useHistory(board_id: string, view: FullBoard, version: unknown) {
  const [loaded, setLoaded] = useState<LoadedLog>()
  const [failure, setFailure] = useState<unknown>()
  const [isLoadingOlder, setLoadingOlder] = useState(false)
  const latest = useRef(loaded)
  useInsertionEffect(() => {
    latest.current = loaded
  }, [loaded])

  const load = useCallback(() => {
    setFailure(undefined)
    loadEnd(board_id).then(setLoaded, setFailure)
  }, [board_id])
  useEffect(load, [load])

  const loadOlder = async () => {
    if (!loaded) return
    const { epoch, firstSeq, events } = loaded
    const to = (events[0]?.seq ?? firstSeq) - 1
    setFailure(undefined)
    setLoadingOlder(true)
    try {
      const older = await readPage(board_id, epoch, Math.max(firstSeq - 1, to - PAGE_SIZE), to)
      setLoaded((now) => now && { ...now, events: [...older, ...now.events] })
    } catch (error) {
      // The older events were deleted in the meantime: what is shown is all there is.
      if (isLockstepError(error, 'history_gone')) setLoaded((now) => now && { ...now, firstSeq: to + 1 })
      else setFailure(error)
    }
    setLoadingOlder(false)
  }

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new view or version triggers the request
  useEffect(() => {
    const abort = new AbortController()
    const loadNew = async () => {
      const now = latest.current
      if (!now || now.isStale) return
      try {
        const { signal } = abort
        const newEvents = await client.listEvents(
          { board_id, after: `${now.epoch}.${headOf(now)}`, limit: NEW_PAGE_SIZE },
          { signal, ...(!navigator.onLine && { maxTries: 1 }) },
        )
        setLoaded((then) => {
          const fresh = then && newEvents.filter(({ seq }) => seq > headOf(then))
          return then && fresh && fresh.length > 0 ? { ...then, waiting: [...then.waiting, ...fresh] } : then
        })
      } catch (error) {
        // Offline: the next change of the board triggers another request.
        if (isLockstepError(error, 'history_gone')) setLoaded((then) => then && { ...then, isStale: true })
      }
    }
    const timer = setTimeout(() => void loadNew(), DEBOUNCE_MS)
    return () => {
      clearTimeout(timer)
      abort.abort()
    }
  }, [board_id, view, version, loaded?.waiting.length])

  const showNew = () => {
    if (loaded?.isStale) load()
    else setLoaded((now) => now && { ...now, events: [...now.events, ...now.waiting], waiting: [] })
  }
  return { loaded, failure, isLoadingOlder, load, loadOlder, showNew }
}

const headOf = ({ events, waiting, firstSeq }: LoadedLog): number =>
  (waiting.at(-1) ?? events.at(-1))?.seq ?? firstSeq - 1

async function loadEnd(board_id: string): Promise<LoadedLog> {
  // One small request for both ends: it returns the oldest event and the position of the newest.
  const { position, data } = await client.request('listEvents', { board_id, after: '0', limit: 1 })
  const [epoch = '', seq = '0'] = (position ?? '').split('.')
  const head = Number(seq)
  const firstSeq = data[0]?.seq ?? head + 1
  const events = head < firstSeq ? [] : await readPage(board_id, epoch, Math.max(firstSeq - 1, head - PAGE_SIZE), head)
  return { epoch, firstSeq, events, waiting: [], isStale: false }
}

const readPage = (board_id: string, epoch: string, after: number, to: number) =>
  client.listEvents({ board_id, after: `${epoch}.${after}`, limit: to - after })
