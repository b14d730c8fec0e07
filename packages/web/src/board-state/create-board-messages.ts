import { defineMessages } from '../ui/i18n.ts'

export const t = defineMessages('createBoard', {
  toDo: 'To do',
  doing: 'Doing',
  done: 'Done',
})
