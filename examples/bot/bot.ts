import { createClient } from '@lockstep/client'
import { type LiveBoard, openBoard } from '@lockstep/client/live'

/**
 * Limits the number of cards in a column: cards beyond the limit get the label “Over limit”, and lose it when there is room again. Usage:
 *
 *   LOCKSTEP_TOKEN=lsb_… npm start -- <board id> [limit]
 */
const LABEL = { name: 'Over limit', color: '#dc2626' }
const { LOCKSTEP_URL = 'http://127.0.0.1:8000', LOCKSTEP_TOKEN } = process.env
const [board_id, limit = '5'] = process.argv.slice(2)
if (!board_id || !LOCKSTEP_TOKEN) {
  console.error('Usage: LOCKSTEP_TOKEN=lsb_… npm start -- <board id> [limit]')
  process.exit(2)
}

const client = createClient({ baseUrl: LOCKSTEP_URL, token: LOCKSTEP_TOKEN })
const board = await openBoard(client, board_id)
const stop = () => void board.close().then(() => client.close())
process.once('SIGINT', stop).once('SIGTERM', stop)

// The bot compares the board with what it should be, instead of reacting to single events. So it is also right after a restart, after
// events that it missed, and when people and other bots change the same cards.
mark(board, Number(limit))
console.log(`Watching ${board.view?.title}`)
for await (const _ of board.events()) mark(board, Number(limit))

function mark(live: LiveBoard, most: number) {
  for (const { is_done_column, cards } of live.view?.columns ?? []) {
    for (const [i, { id: card_id, labels }] of cards.entries()) {
      const label = labels.find(({ name }) => name === LABEL.name)
      const isOver = !is_done_column && i >= most
      if (isOver && !label) live.change('addCardLabel', { card_id, label_id: labelOf(live) })
      if (!isOver && label) live.change('removeCardLabel', { card_id, label_id: label.id })
    }
  }
}

/** The label's id. It is created if there is none; the change that uses it does not have to wait. */
function labelOf(live: LiveBoard): string {
  return live.view?.labels.find(({ name }) => name === LABEL.name)?.id ?? live.change('createLabel', LABEL).id
}
