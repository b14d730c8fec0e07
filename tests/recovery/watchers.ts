import { isDeepStrictEqual } from 'node:util'
import { fetchApi } from '@lockstep/testing/client/fetch-api'
import { type LiveBoard, openBoard } from '../../packages/client/src/live/live-board.ts'

/** Two live clients that show a board throughout a test. */
export async function openWatchers(baseUrl: string, token: string, board_id: string) {
  const api = fetchApi(baseUrl, token)
  const boards = await Promise.all([1, 2].map(() => openBoard(api, board_id)))
  const read = async () => {
    const { data, position } = await api.request(
      'getBoard',
      { board_id },
      { signal: new AbortController().signal, maxTries: 1 },
    )
    return { board: data, position: position ?? '' }
  }
  return {
    /** Whether all clients are at this position. */
    areAt: (position: string) => boards.every((board) => board.position === position),
    /** Whether all clients show the same board as the service. */
    isRight: async () => {
      const { board, position } = await read()
      return boards.every((each) => each.position === position && isDeepStrictEqual(each.view, board))
    },
    /** Whether any client shows a card with this title. */
    show: (title: string) => boards.some((board) => titlesOf(board).includes(title)),
    close: () => Promise.all(boards.map((board) => board.close())),
  }
}

const titlesOf = ({ view }: LiveBoard) => view?.columns.flatMap(({ cards }) => cards.map(({ title }) => title)) ?? []
