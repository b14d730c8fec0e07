// The published types need this lib, even if the user's tsconfig does not list it.
/// <reference lib="esnext.disposable" preserve="true" />
export type { Api, LiveRequestOptions, LiveResponse } from './api.ts'
export type { CloseReason, Phase } from './connection.ts'
export type { FailedChange, Problem, QueuedChange } from './core.ts'
export { type Environment, realEnvironment, type SocketLike } from './environment.ts'
export {
  type BoardListener,
  type ChangeOutcome,
  type EventOrigin,
  LiveBoard,
  type LiveOptions,
  openBoard,
  type Resync,
  type Snapshot,
  type Status,
  type SubmittedChange,
} from './live-board.ts'
export { localQueue, type QueueStorage } from './storage.ts'
export type {
  BoardEvent,
  Change,
  ChangeName,
  ChangeOptions,
  ExpectedFields,
  FullBoard,
  Input,
  OnlineUser,
  StoredBoard,
} from './types.ts'
