import { handleCommands } from '@lockstep/testing/load/worker'
import { type Amount, type AttackName, runAttack, type Target } from './attacks.ts'

/** A process of its own, so that the attacker takes no time of the bystanders or of the watch over memory. */
export interface AttackCommand {
  name: AttackName
  target: Target
  amount: Amount
  ms: number
}

handleCommands<AttackCommand>(({ name, target, amount, ms }) => runAttack(name, target, amount, ms))
