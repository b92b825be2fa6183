/** The texts of the page that keeps a form until the operator has proved who it is, in English. */

export const heldForm = {
  intro: 'Nothing was changed yet. Prove first who you are, then come back to this tab: what you entered is kept.',
  confirm: 'Confirm in a new tab',
  goOn: 'Continue',
  cancel: 'Cancel',
  confirmed: 'You have confirmed that it is you',
  backToForm: 'Close this tab, and continue in the one that you came from.',
};
