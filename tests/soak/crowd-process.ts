import { Crowd, type CrowdOrder } from './crowd.ts'

/** Runs as a process of its own: a crowd that does what users do, until it is told to stop, and tells of it when it is asked. */
export type Told = { said: 'started' | 'so far' | 'stopped'; doings: Crowd['doings'] }

const crowd = new Crowd(JSON.parse(process.argv[2] ?? '') as CrowdOrder)
const tell = (said: Told['said']) => process.send?.({ said, doings: crowd.doings } satisfies Told)
process.on('message', (asked) => {
  if (asked === 'stop') void crowd.stop().then(() => tell('stopped'))
  else tell('so far')
})
process.on('disconnect', () => process.exit(0))
// What nobody caught is a mistake of the client library or of the crowd.
process.on('unhandledRejection', (error) => crowd.doings.failures.push(`nobody caught: ${String(error)}`))

await crowd.start()
tell('started')
