import { isLockstepError } from '@lockstep/client'
import { realEnvironment } from '@lockstep/client/live'
import type { BoardTools } from '../board-state/board-tools.ts'
import { client } from '../session.ts'
import { announce } from '../ui/announcer.tsx'
import { errorMessage } from '../ui/failure.tsx'
import { Store } from '../ui/store.ts'
import { showToast } from '../ui/toasts.ts'
import { shownName } from './file-kinds.ts'
import { tooLarge } from './file-size-limit.ts'
import { t } from './messages.ts'

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
let queue: Promise<unknown> = Promise.resolve()

const patch = (id: string, change: Partial<Upload>) =>
  uploads.update((all) => all.map((upload) => (upload.id === id ? { ...upload, ...change } : upload)))

/** Removes an upload from the list and cancels it if it is running. */
export function removeUpload(id: string) {
  running.get(id)?.abort()
  uploads.update((all) => all.filter((upload) => upload.id !== id))
}

function addUploads(card_id: string, files: Iterable<File>): Upload[] {
  const added = [...files].map(
    (file): Upload => ({ id: realEnvironment.newId(), card_id, file, state: 'waiting', sent: 0 }),
  )
  uploads.update((all) => [...all, ...added])
  return added
}

/**
 * Attaches files. Offline they fail at once, because a file can't be stored over a reload. Resolves with the failed uploads
 * when all are finished.
 */
export async function attach(card_id: string, files: Iterable<File>, isOffline: boolean): Promise<Upload[]> {
  const added = addUploads(card_id, files)
  await Promise.all(added.map(({ id }) => startUpload(id, isOffline)))
  return uploads.get().filter(({ id, state }) => state === 'failed' && added.some((upload) => upload.id === id))
}

/** Attaches files to a card of the board. Toasts say how it goes, because the card, which shows the progress, is not open. */
export async function attachOnBoard(tools: BoardTools, card_id: string, files: readonly File[]) {
  const { title = '' } = tools.find(card_id)?.card ?? {}
  const count = files.length
  const open = { label: t.openCard, run: () => tools.openCard(card_id) }
  const hide = showToast(t.attachingFiles({ count, title }), open)
  const failed = await attach(card_id, files, tools.isOffline.get())
  hide()
  const [first, ...others] = failed
  if (!first) return void showToast(t.attachedFiles({ count, title }))
  const problem = t.fileProblem({ name: shownName(first.file.name), problem: first.problem ?? '' })
  showToast(others.length > 0 ? t.moreFailedFiles({ problem, count: others.length }) : problem, open)
}

/** Attaches images. Resolves with those that are stored when all are finished. */
export async function attachImages(
  card_id: string,
  files: Iterable<File>,
  isOffline: boolean,
): Promise<{ id: string; name: string }[]> {
  const added = addUploads(card_id, files)
  const isStored = await Promise.all(added.map(({ id }) => startUpload(id, isOffline)))
  return added.filter((_, i) => isStored[i]).map(({ id, file }) => ({ id, name: shownName(file.name) }))
}

/** Starts an upload, or tries it again. When it is finished, resolves with whether the file is stored. */
export async function startUpload(id: string, isOffline: boolean): Promise<boolean> {
  if (isOffline || !navigator.onLine) {
    const problem = t.uploadOffline
    announce(problem)
    patch(id, { state: 'failed', problem, canRetry: true })
    return false
  }
  patch(id, { state: 'waiting', sent: 0, problem: undefined })
  const stored = queue.then(() => transfer(id))
  queue = stored
  return stored
}

const waiting = (id: string) => uploads.get().find((each) => each.id === id && each.state === 'waiting')

async function transfer(id: string): Promise<boolean> {
  const upload = waiting(id)
  if (!upload) return false
  const { card_id, file } = upload
  const sizeError = await tooLarge(file)
  // It may have been cancelled in the meantime.
  if (!waiting(id)) return false
  if (sizeError) {
    announce(t.fileProblem({ name: shownName(file.name), problem: sizeError }))
    patch(id, { state: 'failed', problem: sizeError, canRetry: false })
    return false
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
    announce(t.attached({ name: shownName(file.name) }))
    return true
  } catch (error) {
    if (controller.signal.aborted) return false
    const problem = errorMessage(error)
    patch(id, { state: 'failed', problem, canRetry: !isLockstepError(error, 'file_too_large', 'card_not_found') })
    announce(t.fileProblem({ name: shownName(file.name), problem }))
    return false
  } finally {
    running.delete(id)
    if (running.size === 0) removeEventListener('beforeunload', confirmLeave)
  }
}

/** Leaving the page would cancel the upload: the browser asks for confirmation. */
const confirmLeave = (event: BeforeUnloadEvent) => event.preventDefault()
