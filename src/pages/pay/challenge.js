// Shows the challenge of the bank in a dialog. Without this script, a button leads to the page of the bank.
(() => {
  const dialog = document.querySelector('dialog');
  if (!dialog.showModal) return;
  const [frame, request] = dialog.querySelectorAll('iframe, form');
  const bankPage = document.getElementById('bank-page');
  const goToBank = () => bankPage.requestSubmit();
  let timeout;
  let isLoaded = false;
  const open = () => {
    dialog.showModal();
    // Back closes the dialog; a payer who reloads the page gets it again.
    if (history.state !== 'bank') history.pushState('bank', '');
    if (isLoaded) return;
    const isWide = innerWidth >= 560;
    const size = isWide && innerHeight >= 730 ? '03' : isWide && innerHeight >= 530 ? '02' : '05';
    dialog.dataset.size = size;
    request.elements.creq.value = request.getAttribute(`data-creq-${size}`);
    request.submit();
    clearTimeout(timeout);
    timeout = setTimeout(goToBank, 8000);
  };
  frame.addEventListener('load', () => {
    const shown = frame.contentDocument;
    if (shown?.URL === 'about:blank') return;
    clearTimeout(timeout);
    isLoaded = true;
    // A browser lets us read a page of ours only: the payer has come back from the bank.
    const next = shown?.querySelector('[target=_parent]');
    if (next) location.replace(next.href);
  });
  // The policy of this page allows the frame no other origin than that of the bank.
  document.addEventListener('securitypolicyviolation', ({ effectiveDirective }) => {
    if (effectiveDirective === 'frame-src') goToBank();
  });
  addEventListener('popstate', () => dialog.close());
  dialog.addEventListener('close', () => history.replaceState(null, ''));
  dialog.querySelector('.shut').addEventListener('click', () => dialog.close());
  bankPage.querySelector('button').addEventListener('click', (event) => {
    event.preventDefault();
    open();
  });
  // A payer who used the back button decides what to do.
  addEventListener('pageshow', ({ persisted }) => {
    if (!persisted) return;
    clearTimeout(timeout);
    dialog.close();
  });
  if (performance.getEntriesByType('navigation')[0]?.type !== 'back_forward') open();
})();
