import { isLockstepError } from '@lockstep/client'
import { realEnvironment } from '@lockstep/client/live'
import { client } from '../session.ts'
import { announce } from '../ui/announcer.tsx'
import { sentenceOf } from '../ui/failure.tsx'
import { Store } from '../ui/store.ts'
import { shownName } from './file-kinds.ts'
import { tooLarge } from './size-limit.ts'

/** A file on its way to a card. It goes on while its dialog is closed. */
export interface Upload {
  /** The attachment's id to be, and the key that makes it once however often it is sent. */
  id: string
  card_id: string
  file: File
  state: 'waiting' | 'sending' | 'done' | 'failed'
  /** How much of it has gone: 0 to 1. */
  sent: number
  problem?: string | undefined
  can_retry?: boolean
}

export const uploads = new Store<readonly Upload[]>([])
const running = new Map<string, AbortController>()
/** One after the other: a browser has few connections, and the board needs them too. */
let line = Promise.resolve()

const patch = (id: string, change: Partial<Upload>) =>
  uploads.update((all) => all.map((upload) => (upload.id === id ? { ...upload, ...change } : upload)))

/** Takes it off the list: it has arrived, was seen to fail, or is not wanted any more. */
export function drop(id: string) {
  running.get(id)?.abort()
  uploads.update((all) => all.filter((upload) => upload.id !== id))
}

/** Attaches files. Without a network they are refused at once, as a file is not kept over a reload. */
export function attach(card_id: string, files: Iterable<File>, is_offline: boolean) {
  for (const file of files) {
    const upload: Upload = { id: realEnvironment.newId(), card_id, file, state: 'waiting', sent: 0 }
    uploads.update((all) => [...all, upload])
    send(upload.id, is_offline)
  }
}

export function send(id: string, is_offline: boolean) {
  if (is_offline || !navigator.onLine) {
    const problem = 'Files cannot be sent without a connection. Try again when you are online.'
    announce(problem)
    return patch(id, { state: 'failed', problem, can_retry: true })
  }
  patch(id, { state: 'waiting', sent: 0, problem: undefined })
  line = line.then(() => transfer(id))
}

const waiting = (id: string) => uploads.get().find((each) => each.id === id && each.state === 'waiting')

async function transfer(id: string) {
  const upload = waiting(id)
  if (!upload) return
  const { card_id, file } = upload
  const refusal = await tooLarge(file)
  // It may have been cancelled meanwhile.
  if (!waiting(id)) return
  if (refusal) {
    announce(`“${shownName(file.name)}”: ${refusal}`)
    return patch(id, { state: 'failed', problem: refusal, can_retry: false })
  }
  const controller = new AbortController()
  running.set(id, controller)
  addEventListener('beforeunload', warn)
  patch(id, { state: 'sending' })
  try {
    const onProgress = ({ sentBytes, totalBytes }: { sentBytes: number; totalBytes: number }) =>
      patch(id, { sent: totalBytes > 0 ? sentBytes / totalBytes : 0 })
    const { signal } = controller
    await client.createAttachment({ card_id, id, file }, { onProgress, signal, idempotencyKey: id })
    patch(id, { state: 'done', sent: 1 })
    announce(`“${shownName(file.name)}” attached.`)
  } catch (error) {
    if (controller.signal.aborted) return
    const problem = sentenceOf(error)
    patch(id, { state: 'failed', problem, can_retry: !isLockstepError(error, 'file_too_large', 'card_not_found') })
    announce(`“${shownName(file.name)}”: ${problem}`)
  } finally {
    running.delete(id)
    if (running.size === 0) removeEventListener('beforeunload', warn)
  }
}

/** Whoever leaves the page now would end the transfer: the browser asks. */
const warn = (event: BeforeUnloadEvent) => event.preventDefault()
