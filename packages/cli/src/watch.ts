import { type LiveBoard, openBoard, type Phase } from '@lockstep/client/live'
import type { Command } from './command.ts'
import { EXIT, Failure } from './failure.ts'
import { loadBoard } from './find.ts'
import { Narrator } from './narrator.ts'
import { harmless, painter } from './terminal.ts'

export const watch: Command = {
  summary: 'what happens on a board, as it happens',
  usage: '<board>',
  help: `  A line for each event: when, who, what. Lost connections come back by themselves, and nothing is missed meanwhile.
  With --json each line is the event as the service sends it, or {"type":"resync"} where events are no longer to be had.
  Ctrl-C ends it.`,
  async run({ args: [word = ''], client, is_json, paint }) {
    const api = client()
    const { id, title } = await loadBoard(api, word)
    await using board = await openBoard(api, id)
    const narrator = new Narrator(viewOf(board))
    const events = board.events()
    const end = () => void board.close()
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, end)
    if (!is_json) {
      console.error(painter(process.stderr)('dim', `Watching ${harmless(title)}; Ctrl-C ends it.`))
      tellOfTheLine(board)
    }
    let last = ''
    for await (const event of events) {
      last = event.type
      if (is_json) console.log(JSON.stringify(event))
      else if (event.type === 'resync') {
        narrator.learn(viewOf(board))
        console.log(paint('yellow', 'Some events are no longer to be had; those that follow are complete again.'))
      } else {
        const what = narrator.tell(event)
        console.log(`${paint('dim', timeOf(event.timestamp))}  ${paint('cyan', narrator.who(event))} ${what}`)
      }
    }
    if (board.status.reason === 'deleted' && last !== 'board.deleted') console.error('The board was deleted.')
    judge(board)
  },
}

/** There is a view from the moment on at which the board is open. */
function viewOf({ view }: LiveBoard) {
  if (!view) throw new Error('An open board without a view')
  return view
}

/** The time of day where the reader is. */
function timeOf(timestamp: string): string {
  const date = new Date(timestamp)
  const two = (n: number) => String(n).padStart(2, '0')
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':')
}

/** Says on standard error when the connection goes and comes; the events alone are on standard output. */
function tellOfTheLine(board: LiveBoard): void {
  const paint = painter(process.stderr)
  const said: Record<Exclude<Phase, 'closed'>, string> = {
    live: 'Connected again.',
    polling: 'No socket can be had, so the service is asked every few seconds; lockstep doctor says why.',
    offline: 'The service cannot be reached; trying again.',
    connecting: 'The connection is lost; trying again.',
  }
  let last: Phase = 'connecting'
  let hasTold = false
  board.subscribe(() => {
    const { phase } = board.status
    if (phase === last) return
    // The first connection is nothing to tell.
    const isFirst = last === 'connecting' && phase === 'live' && !hasTold
    last = phase
    if (isFirst || phase === 'closed') return
    hasTold = true
    console.error(paint('dim', said[phase]))
  })
}

/** A board that is gone was told as an event; being shut out is a failure. */
function judge({ status: { reason } }: LiveBoard): void {
  if (reason === 'forbidden')
    throw new Failure('You are no longer a member of this board.', EXIT.failed, { code: 'not_a_member' })
  if (reason === 'unauthorized') {
    throw new Failure('Your login has ended. Log in with: lockstep login', EXIT.not_logged_in, {
      code: 'not_authenticated',
    })
  }
}
