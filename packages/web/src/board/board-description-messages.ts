import { defineMessages } from '../ui/i18n.ts'

export const t = defineMessages('boardDescription', {
  title: 'Board description',
  hint: 'What is this board for? It’s shown in the list of boards.',
  save: 'Save',
  cancel: 'Cancel',
  saved: 'Changed the board description',
  conflict: 'Someone else changed the description while you were writing. If you save, your text replaces this one:',
})
