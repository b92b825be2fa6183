/** Registers the payment method with the checkout block; the payer pays on the page of the gateway. */
(() => {
  const settings = window.wc.wcSettings.getPaymentMethodData('turnpike', {});
  const { createElement } = window.wp.element;
  const { decodeEntities } = window.wp.htmlEntities;
  const title = decodeEntities(settings.title ?? '');
  const Content = () => decodeEntities(settings.description ?? '');
  window.wc.wcBlocksRegistry.registerPaymentMethod({
    name: 'turnpike',
    label: createElement('span', null, title),
    ariaLabel: title,
    content: createElement(Content),
    edit: createElement(Content),
    canMakePayment: () => true,
    supports: { features: settings.supports ?? [] },
  });
})();
