/** What is wrong with a whole form. It takes the focus, so that it is read where it stands. */
export function FormAlert({ text }: { text: string | undefined }) {
  return (
    text && (
      <p className="form-alert" role="alert" tabIndex={-1}>
        {text}
      </p>
    )
  )
}
