package regular

// nonblock is nothing: Windows keeps named pipes out of folders.
const nonblock = 0
