let title = ''
let count = 0
const show = () => {
  document.title = `${count > 0 ? `(${count > 99 ? '99+' : count}) ` : ''}${title} · Lockstep`
}

export function setTitle(text: string) {
  title = text
  show()
}

/** Shows a number in front of the title, such as that of unread items. */
export function setTitleCount(number: number) {
  if (number === count) return
  count = number
  show()
}
