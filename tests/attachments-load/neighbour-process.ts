import { setTimeout as pause } from 'node:timers/promises'
import { Asker } from '@lockstep/testing/load/http-connection'

/** Runs as a process of its own: asks for one thing again and again, until its parent goes. */
const PAUSE_MS = 5
const [base_url = '', path = '', token = ''] = process.argv.slice(2)
const asker = new Asker(base_url, token)
let times: number[] = []
process.on('message', () => {
  process.send?.(times)
  times = []
})
process.on('disconnect', () => process.exit(0))

for (let i = 0; i < 50; i++) await asker.ask('GET', path)
process.send?.('ready')
for (;;) {
  const { status, ms } = await asker.ask('GET', path)
  if (status !== 200) throw new Error(`The neighbour was answered ${status}`)
  times.push(ms)
  await pause(PAUSE_MS)
}
