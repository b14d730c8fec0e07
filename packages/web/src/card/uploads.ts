import { isLockstepError } from '@lockstep/client'
import { realEnvironment } from '@lockstep/client/live'
import { client } from '../session.ts'
import { announce } from '../ui/announcer.tsx'
import { errorMessage } from '../ui/failure.tsx'
import { Store } from '../ui/store.ts'
import { shownName } from './file-kinds.ts'
import { tooLarge } from './file-size-limit.ts'

/** An upload to a card. It continues while the dialog is closed. */
export interface Upload {
  /** The id of the future attachment, also the idempotency key of all attempts. */
  id: string
  card_id: string
  file: File
  state: 'waiting' | 'sending' | 'done' | 'failed'
  /** Progress from 0 to 1. */
  sent: number
  problem?: string | undefined
  canRetry?: boolean
}

export const uploads = new Store<readonly Upload[]>([])
const running = new Map<string, AbortController>()
/** One upload at a time: browsers have few connections per host, and the board needs them too. */
let queue = Promise.resolve()

const patch = (id: string, change: Partial<Upload>) =>
  uploads.update((all) => all.map((upload) => (upload.id === id ? { ...upload, ...change } : upload)))

/** Removes an upload from the list and cancels it if it is running. */
export function removeUpload(id: string) {
  running.get(id)?.abort()
  uploads.update((all) => all.filter((upload) => upload.id !== id))
}

/** Attaches files. Offline they fail at once, because a file can't be stored over a reload. */
export function attach(card_id: string, files: Iterable<File>, isOffline: boolean) {
  for (const file of files) {
    const upload: Upload = { id: realEnvironment.newId(), card_id, file, state: 'waiting', sent: 0 }
    uploads.update((all) => [...all, upload])
    startUpload(upload.id, isOffline)
  }
}

export function startUpload(id: string, isOffline: boolean) {
  if (isOffline || !navigator.onLine) {
    const problem = 'You’re offline. Retry when you’re back online.'
    announce(problem)
    return patch(id, { state: 'failed', problem, canRetry: true })
  }
  patch(id, { state: 'waiting', sent: 0, problem: undefined })
  queue = queue.then(() => transfer(id))
}

const waiting = (id: string) => uploads.get().find((each) => each.id === id && each.state === 'waiting')

async function transfer(id: string) {
  const upload = waiting(id)
  if (!upload) return
  const { card_id, file } = upload
  const sizeError = await tooLarge(file)
  // It may have been cancelled in the meantime.
  if (!waiting(id)) return
  if (sizeError) {
    announce(`“${shownName(file.name)}”: ${sizeError}`)
    return patch(id, { state: 'failed', problem: sizeError, canRetry: false })
  }
  const controller = new AbortController()
  running.set(id, controller)
  addEventListener('beforeunload', confirmLeave)
  patch(id, { state: 'sending' })
  try {
    const onProgress = ({ sentBytes, totalBytes }: { sentBytes: number; totalBytes: number }) =>
      patch(id, { sent: totalBytes > 0 ? sentBytes / totalBytes : 0 })
    const { signal } = controller
    await client.createAttachment({ card_id, id, file }, { onProgress, signal, idempotencyKey: id })
    patch(id, { state: 'done', sent: 1 })
    announce(`Attached “${shownName(file.name)}”`)
  } catch (error) {
    if (controller.signal.aborted) return
    const problem = errorMessage(error)
    patch(id, { state: 'failed', problem, canRetry: !isLockstepError(error, 'file_too_large', 'card_not_found') })
    announce(`“${shownName(file.name)}”: ${problem}`)
  } finally {
    running.delete(id)
    if (running.size === 0) removeEventListener('beforeunload', confirmLeave)
  }
}

/** Leaving the page would cancel the upload: the browser asks for confirmation. */
const confirmLeave = (event: BeforeUnloadEvent) => event.preventDefault()
