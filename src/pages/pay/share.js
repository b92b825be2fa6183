// Passes the picture of a code to another app of a phone.
(() => {
  const button = document.querySelector('[data-share]');
  if (!navigator.canShare) return;
  const { href, download } = button.previousElementSibling;
  const bytes = Uint8Array.from(atob(href.split(',')[1]), (character) => character.charCodeAt());
  const files = [new File([bytes], download, { type: 'image/png' })];
  button.hidden = !navigator.canShare({ files });
  // The payer may close the sheet of the browser without choosing an app.
  button.addEventListener('click', () => navigator.share({ files }).catch(() => {}));
})();
