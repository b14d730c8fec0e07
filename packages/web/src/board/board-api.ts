import { client } from '../session.ts'

type Answer = ReturnType<typeof client.request<'getBoard'>>
let begun: { board_id: string; answer: Answer } | undefined

/** Asks for the board of the address at once: who looks at it is found out meanwhile. */
export function beginBoard() {
  const board_id = /^\/app\/b\/([0-9a-f-]{36})(?:\/|$)/i.exec(location.pathname)?.[1]
  if (!board_id) return
  const answer = client.request('getBoard', { board_id }, { maxTries: 1 })
  // Whoever takes it is told; nobody takes it when the user turns out to be nobody.
  answer.catch(() => {})
  begun = { board_id, answer }
}

/** What live boards ask: the client, but for a first load that is under way already. */
export const boardApi: Pick<typeof client, 'baseUrl' | 'request'> = {
  baseUrl: client.baseUrl,
  request: ((name: 'getBoard', input: { board_id: string }, options) => {
    if (name !== 'getBoard' || begun?.board_id !== input.board_id) return client.request(name, input, options)
    const { answer } = begun
    begun = undefined
    return answer
  }) as typeof client.request,
}
