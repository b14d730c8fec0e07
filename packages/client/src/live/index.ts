// Who reads the published types need not have these in his own `lib`.
/// <reference lib="esnext.disposable" preserve="true" />
export type { Api, ApiAnswer, RequestOptions } from './api.ts'
export type { Notice, Problem } from './core.ts'
export { type Environment, realEnvironment, type SocketLike } from './environment.ts'
export type { EndReason, Phase } from './line.ts'
export {
  type AboutEvent,
  type BoardListener,
  LiveBoard,
  type LiveOptions,
  type Made,
  openBoard,
  type Resync,
  type Settled,
  type Snapshot,
  type Status,
} from './live-board.ts'
export { localQueue, type QueueStorage } from './storage.ts'
export type {
  BoardEvent,
  Change,
  ChangeName,
  ChangeOptions,
  FullBoard,
  Guard,
  Input,
  OnlineUser,
  StoredBoard,
} from './types.ts'
