package dev.lockstep.spring;

import dev.lockstep.annotation.Locked;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.asm.ClassReader;
import org.springframework.asm.ClassVisitor;
import org.springframework.asm.Handle;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.Opcodes;
import org.springframework.asm.SpringAsmInfo;
import org.springframework.asm.Type;
import org.springframework.util.ClassUtils;

/*
 * Overview. A proxy does not see what an object calls on itself, so such a call of a locked method would run without the lock.
 * The byte code says which method calls which. A call is refused if its receiver can only be "this": the calling method has no
 * other value of the class, from a field, a parameter, a call, a cast or a constructor. So a bean that calls itself through an
 * injected proxy is left alone; and so is one whose caller holds the same lock, by an equal annotation.
 */

/** Finds calls by which an object calls a {@link Locked} method of its own. Used by one thread. */
final class SelfCalls {
    private static final Logger log = LoggerFactory.getLogger(SelfCalls.class);

    /**
     * The calls of one method: the methods of its class that it calls, and whether it has other objects of the class.
     */
    private static final class Body {
        final String name;
        final boolean isPrivate;
        final Set<String> calls = new HashSet<>();
        boolean seesOthers;

        Body(String name, boolean isPrivate) {
            this.name = name;
            this.isPrivate = isPrivate;
        }
    }

    private final Set<String> owners = new HashSet<>();
    private final Map<String, Body> bodies = new LinkedHashMap<>();
    private final Map<String, LockedMethod> locked = new HashMap<>();

    private SelfCalls() {}

    /**
     * Refuses a class whose methods call locked methods of the same object.
     *
     * @throws IllegalStateException if one does
     */
    static void refuse(Class<?> type, Map<Method, LockedMethod> methods) {
        if (methods.isEmpty() || type.isInterface() || Proxy.isProxyClass(type)) {
            return;
        }
        SelfCalls calls = new SelfCalls();
        methods.forEach((method, how) -> calls.locked.put(method.getName() + Type.getMethodDescriptor(method), how));
        for (Class<?> each = type; each != null && each != Object.class; each = each.getSuperclass()) {
            calls.owners.add(Type.getInternalName(each));
        }
        for (Class<?> each = type; each != null && each != Object.class; each = each.getSuperclass()) {
            calls.read(each);
        }
        calls.check(type);
    }

    private void read(Class<?> type) {
        try (InputStream file = type.getResourceAsStream(ClassUtils.getClassFileName(type))) {
            if (file != null) { // there is none in a native image
                new ClassReader(file).accept(new Reader(), ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
            }
        } catch (IOException | IllegalArgumentException e) {
            log.debug("The class file of {} cannot be read", type, e);
        }
    }

    private void check(Class<?> type) {
        locked.forEach((callee, how) -> bodies.forEach((caller, body) -> {
            if (body.calls.contains(callee) && !body.seesOthers && !isCovered(caller, how.annotation(), Set.of())) {
                throw new IllegalStateException(
                        "@Locked has no effect on " + how + " when " + type.getName() + "."
                                + body.name
                                + " calls it: a call of the same object does not pass Spring's proxy, so it takes no"
                                + " lock. Call it through another bean, or call a method without @Locked if no lock is wanted.");
            }
        }));
    }

    /** Whether a method only runs under an equal lock. */
    private boolean isCovered(String method, Locked lock, Set<String> seen) {
        LockedMethod own = locked.get(method);
        if (own != null) {
            return own.annotation().equals(lock);
        }
        Body body = bodies.get(method);
        if (body == null || !body.isPrivate || seen.contains(method)) {
            return false;
        }
        Set<String> path = new HashSet<>(seen);
        path.add(method);
        boolean called = false;
        for (Map.Entry<String, Body> caller : bodies.entrySet()) {
            if (caller.getValue().calls.contains(method)) {
                called = true;
                if (!isCovered(caller.getKey(), lock, path)) {
                    return false;
                }
            }
        }
        return called;
    }

    /** Reads the methods of a class. */
    private final class Reader extends ClassVisitor {
        Reader() {
            super(SpringAsmInfo.ASM_VERSION);
        }

        @Override
        public @Nullable MethodVisitor visitMethod(
                int access,
                String name,
                String descriptor,
                @Nullable String signature,
                String @Nullable [] exceptions) {
            boolean isStatic = (access & Opcodes.ACC_STATIC) != 0;
            if (isStatic || (access & Opcodes.ACC_BRIDGE) != 0 || bodies.containsKey(name + descriptor)) {
                return null;
            }
            Body body = new Body(name, (access & Opcodes.ACC_PRIVATE) != 0);
            for (Type parameter : Type.getArgumentTypes(descriptor)) {
                body.seesOthers |= isOwn(parameter);
            }
            bodies.put(name + descriptor, body);
            return new Instructions(body);
        }
    }

    private boolean isOwn(Type type) {
        return type.getSort() == Type.OBJECT && owners.contains(type.getInternalName());
    }

    /** Reads the instructions of a method. */
    private final class Instructions extends MethodVisitor {
        private final Body body;

        Instructions(Body body) {
            super(SpringAsmInfo.ASM_VERSION);
            this.body = body;
        }

        @Override
        public void visitFieldInsn(int opcode, String owner, String name, String descriptor) {
            body.seesOthers |= isOwn(Type.getType(descriptor));
        }

        @Override
        public void visitTypeInsn(int opcode, String type) {
            body.seesOthers |= owners.contains(type);
        }

        @Override
        public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
            body.seesOthers |= isOwn(Type.getReturnType(descriptor));
            boolean isSuper = opcode == Opcodes.INVOKESPECIAL && !isPrivate(name + descriptor);
            if (owners.contains(owner) && opcode != Opcodes.INVOKESTATIC && !isSuper) {
                body.calls.add(name + descriptor);
            }
        }

        @Override
        public void visitInvokeDynamicInsn(String name, String descriptor, Handle bootstrap, Object... arguments) {
            for (Object argument : arguments) {
                if (argument instanceof Handle handle && owners.contains(handle.getOwner())) {
                    body.calls.add(handle.getName() + handle.getDesc());
                }
            }
        }

        private boolean isPrivate(String method) {
            Body known = bodies.get(method);
            return known != null && known.isPrivate;
        }
    }
}
