import { LockstepError } from '@lockstep/client'
import { type LiveBoard, openBoard, type Phase } from '@lockstep/client/live'
import type { Command } from './command.ts'
import { EventPrinter } from './describe-event.ts'
import { EXIT, Failure } from './failure.ts'
import { loadBoard } from './find.ts'
import { escapeControlChars, painter } from './terminal.ts'

export const watch: Command = {
  summary: 'print the events of a board live',
  usage: '<board>',
  help: `  Prints a line per event: time, user, change. Reconnects automatically without missing events.
  With --json, each line is an event as sent by the service, or {"type":"resync"} if events are no longer available.
  Press Ctrl-C to stop.`,
  async run({ args: [word = ''], client, isJson, paint }) {
    const api = client()
    const { id, title } = await loadBoard(api, word)
    await using board = await openBoard(api, id)
    const describer = new EventPrinter(viewOf(board))
    const events = board.events()
    const end = () => void board.close()
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, end)
    if (!isJson) {
      console.error(painter(process.stderr)('dim', `Watching ${escapeControlChars(title)}; press Ctrl-C to stop.`))
      reportConnection(board)
    }
    let last = ''
    for await (const event of events) {
      last = event.type
      if (isJson) console.log(JSON.stringify(event))
      else if (event.type === 'resync') {
        describer.update(viewOf(board))
        console.log(paint('yellow', 'Some events are no longer available. The following events are complete.'))
      } else {
        const what = describer.describe(event)
        console.log(`${paint('dim', timeOf(event.timestamp))}  ${paint('cyan', describer.actorOf(event))} ${what}`)
      }
    }
    if (board.status.reason === 'deleted' && last !== 'board.deleted') console.error('The board was deleted.')
    throwIfRemoved(board)
  },
}

/** An open board always has a view. */
function viewOf({ view }: LiveBoard) {
  if (!view) throw new Error('An open board without a view')
  return view
}

/** Local time of day. */
function timeOf(timestamp: string): string {
  const date = new Date(timestamp)
  const two = (n: number) => String(n).padStart(2, '0')
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':')
}

/** Node.js has WebSockets from version 22 on. */
export const hasWebSocket = 'WebSocket' in globalThis

/** Reports connection changes on stderr, so that stdout contains only events. */
export function reportConnection(board: LiveBoard): void {
  const paint = painter(process.stderr)
  const messages: Record<Exclude<Phase, 'closed'>, string> = {
    live: 'Reconnected.',
    polling: hasWebSocket
      ? 'WebSockets are blocked; polling every few seconds. Run lockstep doctor to find out why.'
      : 'This Node.js has no WebSocket; polling every few seconds. Use Node.js 22 or newer.',
    offline: 'The service cannot be reached; retrying.',
    connecting: 'Connection lost; retrying.',
  }
  let last: Phase = 'connecting'
  let hasReported = false
  board.subscribe(() => {
    const { phase } = board.status
    if (phase === last) return
    // Do not report the first connection.
    const isFirst = last === 'connecting' && phase === 'live' && !hasReported
    last = phase
    if (isFirst || phase === 'closed') return
    hasReported = true
    console.error(paint('dim', messages[phase]))
  })
}

/** A deleted board was already reported as an event. Losing access is a failure. */
export function throwIfRemoved({ status: { reason } }: LiveBoard): void {
  if (reason === 'forbidden')
    throw new Failure('You are no longer a member of this board.', EXIT.failed, { code: 'not_a_member' })
  if (reason === 'unauthorized')
    throw new LockstepError({
      code: 'not_authenticated',
      status: 401,
      detail: 'Your login or token is no longer valid.',
    })
}
