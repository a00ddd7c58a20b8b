// the bundle has all parts of RxJS, which share its classes and its clocks
module.exports = require('rxjs').testing;
