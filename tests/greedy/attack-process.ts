import { constants, setPriority } from 'node:os'
import { handleCommands } from '@lockstep/testing/load/worker'
import { type AttackCommand, runAttack } from './attacks.ts'

// An attacker has a machine of its own. On this one the service and the bystander come first.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
handleCommands<AttackCommand>(runAttack)
