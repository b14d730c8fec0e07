import { handleCommands } from '@lockstep/testing/load/worker'
import { type Amount, type AttackName, runAttack, type Target } from './attacks.ts'

/** In its own process, so that the attacker does not slow down the bystanders or the memory watch. */
export interface AttackCommand {
  name: AttackName
  target: Target
  amount: Amount
  ms: number
}

handleCommands<AttackCommand>(({ name, target, amount, ms }) => runAttack(name, target, amount, ms))
