import { setTimeout as pause } from 'node:timers/promises'
import { HttpClient } from '@lockstep/testing/load/http-client'
import { handleCommands } from '@lockstep/testing/load/worker'

export type OtherUserCommand = { do: 'start'; baseUrl: string; path: string; token: string } | { do: 'take times' }

const PAUSE_MS = 5
const WARM_UP_REQUESTS = 50
let times: number[] = []

handleCommands<OtherUserCommand>(async (command) => {
  if (command.do === 'take times') {
    const taken = times
    times = []
    return taken
  }
  const client = new HttpClient(command.baseUrl, command.token)
  for (let i = 0; i < WARM_UP_REQUESTS; i++) await client.request('GET', command.path)
  void repeat(client, command.path)
  return undefined
})

async function repeat(client: HttpClient, path: string) {
  for (;;) {
    const { status, ms } = await client.request('GET', path)
    if (status !== 200) throw new Error(`The other user got ${status}`)
    times.push(ms)
    await pause(PAUSE_MS)
  }
}
