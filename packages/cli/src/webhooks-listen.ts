import { createHmac, randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { type BoardEvent, openBoard, type Resync } from '@lockstep/client/live'
import { type Context, textOption } from './command.ts'
import { wrongUsage } from './failure.ts'
import { loadBoard } from './find.ts'
import { escapeControlChars, type Paint, painter } from './terminal.ts'
import { reportConnection, throwIfRemoved } from './watch.ts'

/** Shorter than the waits of a webhook: a person is waiting for the program to be right. The last one repeats. */
const WAITS_MS = [1_000, 2_000, 5_000]
const TIMEOUT_MS = 15_000
const PREFIX = 'whsec_'

interface Message {
  id: string
  type: string
  position: string
  body: string
}

/** Sends the events of a board to a URL as a webhook does, so that a receiver can be written without a public address. */
export async function listen(context: Context, word: string): Promise<void> {
  const { client, isJson, paint } = context
  const url = textOption(context, 'to') ?? ''
  if (!/^https?:/.test(url) || !URL.canParse(url)) throw wrongUsage('--to is the URL of your receiver.')
  const secret = process.env['WEBHOOK_SECRET'] ?? `${PREFIX}${randomBytes(32).toString('base64')}`
  if (!/^whsec_[A-Za-z\d+/]{32,}=*$/.test(secret)) throw wrongUsage('WEBHOOK_SECRET is “whsec_” and base64.')
  const api = client()
  const { id: board_id, title } = await loadBoard(api, word)
  await using board = await openBoard(api, board_id)
  const stopped = new AbortController()
  const end = () => {
    stopped.abort()
    void board.close()
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, end)

  const events = board.events()
  const dim = (words: string) => console.error(painter(process.stderr)('dim', words))
  dim(`Sending the events of ${escapeControlChars(title)} to ${escapeControlChars(url)}; press Ctrl-C to stop.`)
  if (process.env['WEBHOOK_SECRET'] === undefined) dim(`WEBHOOK_SECRET=${secret}`)
  if (!isJson) reportConnection(board)
  let sent = board.position
  for await (const event of events) {
    const message = messageOf(board_id, event, { from: sent, at: board.position })
    // The board that the receiver loads after a resync has the effect of these events.
    if (numberOf(message.position) <= numberOf(sent) && event.type !== 'resync') continue
    for (let attempt = 1; !stopped.signal.aborted; attempt++) {
      const result = await post(url, message, secret, stopped.signal)
      if (stopped.signal.aborted) break
      report({ ...message, attempt, ...result }, isJson, paint)
      if (result.isAccepted) break
      await pause(WAITS_MS[Math.min(attempt, WAITS_MS.length) - 1], undefined, { signal: stopped.signal }).catch(
        () => {},
      )
    }
    if (stopped.signal.aborted) break
    sent = message.position
  }
  if (!stopped.signal.aborted) throwIfRemoved(board)
}

const numberOf = (position: string) => Number(position.split('.')[1])

/** The same id and body as those of a webhook, except that no event is too large. */
function messageOf(board_id: string, event: BoardEvent | Resync, { from, at }: { from: string; at: string }): Message {
  const epoch = Number(at.split('.')[0])
  if (event.type !== 'resync') {
    const { seq, actor_id: _, ...fields } = event
    const body = JSON.stringify({ board_id, epoch, seq, ...fields })
    return { id: `evt_${board_id}_${epoch}_${seq}`, type: event.type, position: `${epoch}.${seq}`, body }
  }
  const type = 'webhook.resync'
  const reason = from.startsWith(`${epoch}.`) ? 'history_gone' : 'epoch'
  const data = { board_id, from, to: at, reason }
  const body = JSON.stringify({ type, board_id, epoch, data, timestamp: new Date().toISOString() })
  return { id: `evt_${board_id}_${at.replace('.', '_')}_resync`, type, position: at, body }
}

interface Result {
  isAccepted: boolean
  status: number | null
  error: string | null
  duration_ms: number
}
async function post(url: string, { id, body }: Message, secret: string, stopped: AbortSignal): Promise<Result> {
  const timestamp = String(Math.floor(Date.now() / 1_000))
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  }
  const startedAt = performance.now()
  const took = () => Math.round(performance.now() - startedAt)
  const timeout = AbortSignal.timeout(TIMEOUT_MS)
  try {
    const signal = AbortSignal.any([timeout, stopped])
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal })
    await response.body?.cancel()
    return { isAccepted: response.ok, status: response.status, error: null, duration_ms: took() }
  } catch {
    return { isAccepted: false, status: null, error: timeout.aborted ? 'timeout' : 'unreachable', duration_ms: took() }
  }
}

function report(attempt: Omit<Message, 'body'> & Result & { attempt: number }, isJson: boolean, paint: Paint): void {
  const { id, type, position, attempt: nth, isAccepted: is_accepted, status, error, duration_ms } = attempt
  if (isJson) {
    console.log(JSON.stringify({ id, type, position, attempt: nth, is_accepted, status, error, duration_ms }))
    return
  }
  const result = paint(is_accepted ? 'green' : 'red', String(status ?? error))
  console.log(
    `${result}  ${duration_ms} ms  ${type}  ${position}${is_accepted ? '' : `  attempt ${nth}, sending it again`}`,
  )
}
