import { constants, setPriority } from 'node:os'
import { handleCommands } from '@lockstep/testing/load/worker'
import { type Amount, type AttackName, runAttack, type Target } from './attacks.ts'

/** In its own process, so that the attacker does not slow down the bystanders or the memory watch. */
export interface AttackCommand {
  name: AttackName
  target: Target
  amount: Amount
  ms: number
}

// An attacker has a machine of its own. On this one it gets the CPU time that the services and the bystanders leave.
setPriority(constants.priority.PRIORITY_LOW)
handleCommands<AttackCommand>(({ name, target, amount, ms }) => runAttack(name, target, amount, ms))
