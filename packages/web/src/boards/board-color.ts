/** The colour of a board. It follows from the end of the id, which is random. */
export const boardColor = (board_id: string): string =>
  `oklch(0.64 0.13 ${(Number.parseInt(board_id.slice(-4), 16) % 12) * 30 + 15})`
