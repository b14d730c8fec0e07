import { handleCommands } from '@lockstep/testing/load/worker'
import { Workload, type WorkloadOptions } from './workload.ts'

/** A workload in its own process. Every command returns what the users have done so far. */
export type WorkloadCommand = { do: 'start'; options: WorkloadOptions } | { do: 'report' } | { do: 'stop' }

let workload: Workload | undefined
// An unhandled rejection is a bug of the client library or of the workload.
process.on('unhandledRejection', (error) => workload?.report.failures.push(`unhandled rejection: ${String(error)}`))

handleCommands<WorkloadCommand>(async (command) => {
  if (command.do === 'start') {
    workload = new Workload(command.options)
    await workload.start()
  }
  if (command.do === 'stop') await workload?.stop()
  return workload?.report
})
